import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { type Environment, environmentHeader } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";

export type Envelope<T = any> = {
  data: T;
  error: { code: string; message: string; hint: string; docs: string } | null;
  pagination?: { limit: number; has_more: boolean; next_cursor: string | null };
};

export type Answer<T = any> = { status: number; headers: Headers; text: string; body: Envelope<T> };

type CallOptions = {
  body?: unknown;
  /** Sent unchanged, with the content type given in `headers`. */
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
};

let counter = 0;

/** Speaks HTTP to the service as a partner or a person would. Checks the envelope of every JSON answer. */
export class Api {
  readonly url: string;
  readonly #authorization: string | undefined;
  readonly #environment: Environment | undefined;

  constructor(url: string, authorization?: string, environment?: Environment) {
    this.url = url;
    this.#authorization = authorization;
    this.#environment = environment;
  }

  /** The same service, as a caller with this key or access token. */
  as(credential: string): Api {
    return new Api(this.url, `Bearer ${credential}`);
  }

  /** The same caller, who names the environment in every request. */
  in(environment: Environment): Api {
    return new Api(this.url, this.#authorization, environment);
  }

  async call<T = any>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const url = new URL(path, this.url);
    for (const [name, value] of Object.entries(options.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const body = options.body === undefined ? options.raw : JSON.stringify(options.body);
    const { text, ...response } = await send(url, method, body, {
      ...(this.#authorization ? { authorization: this.#authorization } : {}),
      ...(options.body !== undefined ? { "content-type": "application/json" } : {}),
      ...(this.#environment ? { [environmentHeader]: this.#environment } : {}),
      ...options.headers,
    });
    const json = response.headers.get("content-type")?.includes("json") && path.startsWith("/v1/");
    const envelope = json
      ? (JSON.parse(text) as Envelope<T>)
      : ({ data: undefined, error: null } as unknown as Envelope<T>);
    if (json) checkEnvelope(envelope, response);
    return { ...response, text, body: envelope };
  }

  get<T = any>(path: string, query?: CallOptions["query"]): Promise<Answer<T>> {
    return this.call<T>("GET", path, query ? { query } : {});
  }

  post<T = any>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>> {
    return this.call<T>("POST", path, { body, ...(headers ? { headers } : {}) });
  }

  patch<T = any>(path: string, body?: unknown): Promise<Answer<T>> {
    return this.call<T>("PATCH", path, { body });
  }

  delete(path: string): Promise<Answer> {
    return this.call("DELETE", path);
  }
}

const connections = new Agent({ keepAlive: true });

/**
 * Takes a third of the processor time of `fetch`. As there, a connection that cannot be made or is lost is a
 * TypeError. Redirects are not followed, and compressed answers are not asked for.
 */
function send(
  url: URL,
  method: string,
  body: CallOptions["raw"],
  headers: Record<string, string>,
): Promise<Pick<Answer, "status" | "headers" | "text">> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => reject(new TypeError(`${method} ${url}: ${cause.message}`, { cause }));
    const sent = request(url, {
      agent: connections,
      method,
      headers: {
        accept: "*/*",
        "user-agent": "node",
        ...(typeof body === "string" ? { "content-type": "text/plain;charset=UTF-8" } : {}),
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
        ...headers,
      },
    });
    sent.on("error", fail);
    sent.on("response", (response) => {
      const got = new Headers();
      for (const [name, values = []] of Object.entries(response.headersDistinct))
        for (const value of values) got.append(name, value);
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: got,
          text: Buffer.concat(chunks).toString("utf8"),
        }),
      );
    });
    sent.end(body);
  });
}

function checkEnvelope(body: Envelope, response: Pick<Answer, "status" | "headers">): void {
  assert.ok("data" in body && "error" in body, "every answer is the envelope");
  assert.ok(response.headers.get("x-request-id"), "every answer carries X-Request-Id");
  if (body.error === null) {
    assert.ok(response.status < 400);
    return;
  }
  assert.ok(response.status >= 400);
  assert.equal(body.data, null);
  assert.deepEqual(Object.keys(body.error).sort(), ["code", "docs", "hint", "message"]);
  assert.match(body.error.docs, new RegExp(`/docs/errors#${body.error.code}$`));
  noteCode(body.error.code);
}

const noted = new Set<string>();

/** The test command checks that every code of the table was met by some test. */
export function noteCode(code: string): void {
  const seen = process.env.ASSAY_TEST_SEEN_CODES;
  if (!seen || noted.has(code)) return;
  noted.add(code);
  appendFileSync(seen, `${code}\n`);
}

/** Asserts the status and returns the data, or fails with the answer. */
export function expectData<T>(answer: Answer<T>, status = 200): T {
  assert.equal(answer.status, status, `expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body.data;
}

export function expectError(answer: Answer, status: number, code: string, message?: RegExp): void {
  assert.equal(`${answer.status} ${answer.body.error?.code}`, `${status} ${code}`, answer.text);
  if (message) assert.match(answer.body.error?.message ?? "", message);
}

/** All pages of a list, one after the other. */
export async function readAll<T = any>(
  api: Api,
  path: string,
  query: Record<string, string | undefined>,
  limit: number,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 200; page++) {
    const answer = await api.get(path, { ...query, limit, starting_after: cursor });
    items.push(...expectData(answer));
    if (!answer.body.pagination?.has_more) return items;
    cursor = answer.body.pagination.next_cursor ?? undefined;
  }
  throw new Error("the list does not end");
}

/** Everything newer than an item, page by page from the item on, newest first. */
export async function readNewer<T extends { id: string }>(
  api: Api,
  path: string,
  query: Record<string, string | undefined>,
  limit: number,
  from: string,
): Promise<T[]> {
  let items: T[] = [];
  let cursor = from;
  for (let page = 0; page < 200; page++) {
    const answer = await api.get(path, { ...query, limit, ending_before: cursor });
    items = [...expectData(answer), ...items];
    if (!answer.body.pagination?.has_more) return items;
    cursor = answer.body.pagination.next_cursor ?? "";
  }
  throw new Error("the list does not end");
}

/** A signed-up user with a unique mail address. */
export async function signUp(api: Api, name = "Ada Lovelace") {
  counter += 1;
  const email = `user-${process.pid}-${counter}@example.com`;
  const password = "correct horse battery";
  const { token, user } = expectData(
    await api.post("/v1/auth/sign-up/email", { name, email, password }),
    201,
  );
  return { api: api.as(token), token: token as string, userId: user.id as string, email, password };
}

/** A user who owns an organization, which is active. */
export async function signUpOwner(api: Api) {
  const owner = await signUp(api);
  const organization = expectData(
    await owner.api.post("/v1/auth/orgs", {
      name: `Organization ${counter}`,
      slug: `org-${process.pid}-${counter}`,
    }),
    201,
  );
  return { ...owner, organizationId: organization.id as OrganizationId };
}

export const allScopes = [
  "sessions:read",
  "sessions:write",
  "webhooks:read",
  "webhooks:write",
  "analytics:read",
];

/** An API key of the owner's active organization. */
export async function createKey(
  owner: { api: Api },
  scopes: readonly string[] = allScopes,
  environment: Environment = "sandbox",
) {
  const key = expectData(
    await owner.api.post("/v1/auth/api-keys", { name: "test key", scopes, environment }),
    201,
  );
  return {
    id: key.id as string,
    secret: key.key as string,
    api: new Api(owner.api.url, `Bearer ${key.key}`),
  };
}

/** Owner, organization and a key with every scope: what most tests begin with. */
export async function createPartner(api: Api) {
  const owner = await signUpOwner(api);
  const key = await createKey(owner);
  return { owner, organizationId: owner.organizationId, key, api: key.api };
}
