import { Dice } from "../../../../scripts/fuzz/dice.ts";
import { isBusy, judge } from "./judge.ts";
import { type Operation, operationAt, readOperations } from "./operations.ts";
import { type Credentials, createPicker, type FuzzRequest, makeRequest, type Who } from "./requests.ts";
import { Things } from "./things.ts";
import { collectionOf, password } from "./values.ts";
import { asCurl, Wire, type WireAnswer } from "./wire.ts";

export type FuzzOptions = {
  url: string;
  seed: number;
  /** Sent by this many lanes, one after another, each with a separate user, organization and key. */
  requests: number;
  lanes: number;
  /** Only the requests of one lane from the first of a life on, as in the report of a failure. */
  replay?: { from: number; to: number };
  /** Log lines of the service that report a fault, each once. */
  takeFaults: () => string[];
  /** New mails: lives collect the tokens in them. */
  takeMails: () => { to: string; text: string }[];
  /** Publishes a TXT record, so that domains can be verified. */
  publish: (name: string, value: string) => void;
  onProgress?: (tally: Tally) => void;
  onFailure?: (failure: Failure) => void;
  onReplayed?: (request: FuzzRequest, answer: WireAnswer | null) => void;
};

export type Failure = {
  problem: string;
  index: number;
  /** First request of the life that the failing one is in, for a replay. */
  from: number;
  request: FuzzRequest | null;
  answer: string;
  curl: string;
};

export type Tally = {
  sent: number;
  lives: number;
  busy: number;
  byStatus: Map<number, number>;
  /** Operations by how often they were answered with a success. */
  succeeded: Map<string, number>;
  kinds: Map<string, number>;
  failures: Failure[];
};

const enoughFailures = 20;
const maxLife = 600;
/** A life refused this often in a row with its own credentials has lost something and is replaced. */
const maxRefusals = 8;

type Life = { things: Things; credentials: Credentials; startedAt: number; refusals: number };

type Run = {
  options: FuzzOptions;
  operations: readonly Operation[];
  pick: (dice: Dice) => Operation;
  foreign: Things;
  foreignWords: string[];
  lives: Map<number, Life>;
  tally: Tally;
  reported: Set<string>;
};

export async function fuzz(options: FuzzOptions): Promise<Tally> {
  const document = await (await fetch(`${options.url}/openapi`)).json();
  const operations = readOperations(document as Record<string, unknown>);
  const tally: Tally = {
    sent: 0,
    lives: 0,
    busy: 0,
    byStatus: new Map(),
    succeeded: new Map(),
    kinds: new Map(),
    failures: [],
  };
  const run: Run = {
    options,
    operations,
    pick: createPicker(operations),
    foreign: new Things(`foreign${options.seed}`),
    foreignWords: [],
    lives: new Map(),
    tally,
    reported: new Set(),
  };
  await furnishForeigner(run);
  const { replay, lanes, requests } = options;
  if (replay !== undefined) await runLane(run, replay.to % lanes, replay.from, replay.to + 1);
  else await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(run, lane, lane, requests)));
  noteFaults(run);
  return tally;
}

async function runLane(run: Run, lane: number, first: number, end: number): Promise<void> {
  const { options, tally } = run;
  const wire = new Wire(options.url);
  let life: Life | null = null;
  try {
    for (let index = first; index < end && tally.failures.length < enoughFailures; index += options.lanes) {
      if (life === null || index - life.startedAt >= maxLife * options.lanes || life.refusals > maxRefusals) {
        life = await beginLife(run, index);
        run.lives.set(lane, life);
      }
      await step(run, wire, life, index);
      if (tally.sent % 64 === 0) {
        noteMails(run);
        noteFaults(run);
      }
      if (tally.sent % 1000 === 0) options.onProgress?.(tally);
    }
  } finally {
    wire.close();
  }
}

async function step(run: Run, wire: Wire, life: Life, index: number): Promise<void> {
  const { options, tally, operations, foreignWords } = run;
  const dice = new Dice(options.seed, index);
  const operation = run.pick(dice);
  const request = makeRequest(
    operation,
    dice,
    { ...life, foreign: run.foreign },
    `fuzz-${options.seed}-${index}`,
  );
  const answer = await wire.send(request);
  tally.sent++;
  const { problem, body, operation: meant } = judge(operations, request, answer, foreignWords);
  const status = answer?.status ?? 0;
  tally.byStatus.set(status, (tally.byStatus.get(status) ?? 0) + 1);
  tally.kinds.set(request.kind, (tally.kinds.get(request.kind) ?? 0) + 1);
  if (isBusy(status)) tally.busy++;
  if (problem !== null) await fail(run, wire, problem, index, life, request, answer);
  if (options.replay?.to === index) options.onReplayed?.(request, answer);
  if (request.method === "HEAD" && meant !== null && problem === null)
    await compareWithGet(run, wire, index, life, request, status);
  if (meant === null) return;
  if (status < 300) {
    tally.succeeded.set(meant.id, (tally.succeeded.get(meant.id) ?? 0) + 1);
    collect(run, life, meant, body);
  }
  noteRefusal(life, request.who, status, body);
}

function collect(run: Run, life: Life, operation: Operation, body: unknown): void {
  const data = (body as { data?: Record<string, unknown> } | undefined)?.data;
  if (data === undefined) return;
  life.things.collect(data, collectionOf(operation.path));
  if (typeof data.record_name === "string" && typeof data.record_value === "string")
    run.options.publish(data.record_name, data.record_value);
}

function noteRefusal(life: Life, who: Who, status: number, body: unknown): void {
  if (who !== "owner" && who !== "key") return;
  const code = (body as { error?: { code?: string } | null } | undefined)?.error?.code;
  if (status < 300) life.refusals = 0;
  else if (who === "owner" && code === "UNAUTHORIZED") life.refusals += maxRefusals / 2;
  else if (
    code === "UNAUTHORIZED" ||
    code === "ORGANIZATION_FROZEN" ||
    code === "ORGANIZATION_REQUIRED" ||
    code === "FORBIDDEN" ||
    code === "ROLE_REQUIRED" ||
    code === "API_KEY_NOT_ALLOWED"
  )
    life.refusals++;
}

/** `HEAD` is answered as `GET` would be, without the body. */
async function compareWithGet(
  run: Run,
  wire: Wire,
  index: number,
  life: Life,
  request: FuzzRequest,
  status: number,
): Promise<void> {
  const answer = await wire.send({ ...request, method: "GET" });
  if (answer !== null && answer.status !== status)
    await fail(run, wire, `HEAD is ${status}, GET ${answer.status}`, index, life, request, answer);
}

async function fail(
  run: Run,
  wire: Wire,
  problem: string,
  index: number,
  life: Life,
  request: FuzzRequest,
  answer: WireAnswer | null,
): Promise<void> {
  // The same problem at the same path is reported once.
  const problemAt = `${problem} ${request.method} ${operationAt(run.operations, request.method, request.target)?.path ?? request.target}`;
  if (run.reported.has(problemAt)) return;
  run.reported.add(problemAt);
  const smallest = await shrink(run, wire, problem, request);
  note(run, {
    problem,
    index,
    from: life.startedAt,
    request: smallest,
    answer: answer === null ? "none" : `${answer.status} ${answer.body.toString("utf8").slice(0, 600)}`,
    curl: asCurl(smallest, run.options.url),
  });
}

/** Leaves out headers, fields and parameters as long as the problem stays the same. */
async function shrink(run: Run, wire: Wire, problem: string, request: FuzzRequest): Promise<FuzzRequest> {
  let smallest = request;
  for (let round = 0; round < 60; round++) {
    let found: FuzzRequest | null = null;
    for (const smaller of smallerThan(smallest)) {
      const { problem: again } = judge(run.operations, smaller, await wire.send(smaller), run.foreignWords);
      if (again !== problem) continue;
      found = smaller;
      break;
    }
    if (found === null) return smallest;
    smallest = found;
  }
  return smallest;
}

function smallerThan(request: FuzzRequest): FuzzRequest[] {
  const smaller: FuzzRequest[] = request.headers.map((_, index) => ({
    ...request,
    headers: request.headers.filter((_header, other) => other !== index),
  }));
  const [path = "", query] = request.target.split("?");
  for (const part of query?.split("&") ?? [])
    smaller.push({
      ...request,
      target: `${path}?${query
        ?.split("&")
        .filter((other) => other !== part)
        .join("&")}`.replace(/\?$/, ""),
    });
  try {
    const body = JSON.parse(request.body?.toString("utf8") ?? "null");
    if (typeof body === "object" && body !== null && !Array.isArray(body))
      for (const name of Object.keys(body)) {
        const { [name]: _, ...rest } = body;
        smaller.push({ ...request, body: Buffer.from(JSON.stringify(rest)) });
      }
  } catch {
    // Anything but JSON stays unchanged.
  }
  return smaller;
}

function note({ tally, options }: Run, failure: Failure): void {
  tally.failures.push(failure);
  options.onFailure?.(failure);
}

function noteFaults(run: Run): void {
  const { options, lives } = run;
  for (const line of options.takeFaults()) {
    const index = Number(new RegExp(`fuzz-${options.seed}-(\\d+)`).exec(line)?.[1] ?? Number.NaN);
    const life = Number.isNaN(index) ? undefined : lives.get(index % options.lanes);
    note(run, {
      problem: `the log tells of a fault: ${line.trim().slice(0, 600)}`,
      index,
      from: life?.startedAt ?? 0,
      request: null,
      answer: "",
      curl: "",
    });
  }
}

function noteMails({ options, lives }: Run): void {
  for (const { to, text } of options.takeMails()) {
    const life = [...lives.values()].find(({ things }) => to.endsWith(`@${things.mailHost}`));
    for (const [, token] of text.matchAll(/(?:token=|invitations\/)([A-Za-z0-9]{43})/g))
      life?.things.add("token", token ?? "");
    const code = /^\s*([A-Z0-9]{8})\s*$/m.exec(text)?.[1];
    if (code !== undefined) life?.things.add("deletion_code", code);
  }
}

// --- lives -------------------------------------------------------------------------------------------------

/** A user with an organization and a key, created through the API. */
async function beginLife(run: Run, index: number): Promise<Life> {
  run.tally.lives++;
  return openLife(run, new Things(`s${run.options.seed}x${index}`), index);
}

async function openLife({ options }: Run, things: Things, index: number, name = "Fuzz"): Promise<Life> {
  const call = createCaller(options.url, index);
  const signedUp = await call("POST", "/v1/auth/sign-up/email", "", {
    name: "Fuzz",
    email: `owner@${things.mailHost}`,
    password,
  });
  const token = String(signedUp.token);
  things.add("email", `owner@${things.mailHost}`);
  const organization = await call("POST", "/v1/auth/orgs", token, { name, slug: things.word });
  things.add("/v1/auth/orgs", String(organization.id));
  const key = await call("POST", "/v1/auth/api-keys", token, {
    name: "fuzz",
    scopes: ["sessions:read", "sessions:write", "webhooks:read", "webhooks:write", "analytics:read"],
  });
  const { current } = (await call("GET", "/v1/auth/orgs/rp-terms", token)) as { current: unknown };
  things.collect(current, "/v1/auth/orgs/rp-terms");
  return { things, credentials: { token, key: String(key.key) }, startedAt: index, refusals: 0 };
}

function createCaller(url: string, index: number) {
  return async (
    method: string,
    path: string,
    token: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        "x-forwarded-for": `172.${16 + (index % 16)}.${(index >> 4) % 256}.${(index >> 12) % 256}`,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return (JSON.parse(text) as { data: Record<string, unknown> }).data;
  };
}

/** Another organization, whose identifiers are used now and then and whose data must never be seen. */
async function furnishForeigner(run: Run): Promise<void> {
  const { foreign, options } = run;
  const canary = `canary-${options.seed}-text`;
  const { credentials } = await openLife(run, foreign, 0, canary);
  const call = createCaller(options.url, 0);
  for (const [path, body] of [
    ["/v1/sessions", { metadata: { note: canary } }],
    ["/v1/webhooks/endpoints", { url: "https://hook.example/", name: canary }],
    ["/v1/auth/orgs/invitations", { email: `guest@${foreign.mailHost}`, role: "member" }],
    ["/v1/auth/orgs/domains/challenges/dns", { apex_domain: `${foreign.word}.example` }],
  ] as const)
    foreign.collect(await call("POST", path, credentials.token, body), path);
  for (const path of ["/v1/auth/orgs/members", "/v1/auth/account/sessions", "/v1/auth/api-keys"])
    foreign.collect(await call("GET", path, credentials.token), path);
  run.foreignWords.push(canary, credentials.token, credentials.key, ...foreign.ids());
}
