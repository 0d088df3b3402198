import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Dice } from "../../../../scripts/fuzz/dice.ts";
import { systemClock } from "../../src/platform/kernel/clock.ts";
import { createPartner, expectData } from "../support/api.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { startTestService } from "../support/service.ts";
import { fuzz, type Tally } from "./fuzz.ts";
import { judge } from "./judge.ts";
import { readOperations } from "./operations.ts";
import { createPicker, type FuzzRequest, makeRequest } from "./requests.ts";
import { Things } from "./things.ts";
import { isFault, takeMails } from "./watch-service.ts";
import { Wire, type WireAnswer } from "./wire.ts";

const dns = await startDnsServer();
dns.set("hook.example", "A", "127.0.0.1");
const { api, url, logLines, dataDir } = await startTestService({
  clock: systemClock,
  env: {
    DNS_RESOLVERS: dns.address,
    TRUST_PROXY: "127.0.0.1",
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "hook.example",
  },
});
const operations = readOperations((await (await fetch(`${url}/openapi`)).json()) as Record<string, unknown>);

const explain = ({ failures }: Tally) =>
  failures.map(({ problem, index, curl, answer }) => `${index}: ${problem}\n${curl}\n${answer}`).join("\n");

/** A fixed one, so that the same commit gives the same result. `npm run fuzz -- http --seed N` tries others. */
const seed = 20_261_115;

test(`whatever is asked, every answer is one that the document describes (seed ${seed})`, async () => {
  const tally = await fuzz({
    url,
    seed,
    requests: 1000,
    lanes: 4,
    takeFaults: () => logLines.splice(0).filter(isFault),
    takeMails: () => takeMails(dataDir),
    publish: (name, value) => dns.set(name, "TXT", value),
  });
  assert.equal(tally.failures.length, 0, explain(tally));
  assert.equal(tally.sent, 1000);
  assert.equal(tally.busy, 0, "no request was asked to retry later");
  // So that a run that was refused throughout, or lost its users, does not pass.
  assert.ok(tally.succeeded.size > 40, `only ${tally.succeeded.size} operations succeeded`);
  for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 409])
    assert.ok(tally.byStatus.has(status), `no answer was ${status}`);
});

test("the same seed makes the same requests, and another one others", () => {
  const pick = createPicker(operations);
  const requestsOf = (seed: number) => {
    const life = {
      things: new Things("a"),
      foreign: new Things("b"),
      credentials: { token: "token", key: "key" },
    };
    return Array.from({ length: 500 }, (_, index) => {
      const dice = new Dice(seed, index);
      return makeRequest(pick(dice), dice, life, `fuzz-${index}`);
    });
  };
  assert.deepEqual(requestsOf(1), requestsOf(1));
  const texts = new Set([...requestsOf(1), ...requestsOf(2)].map((request) => JSON.stringify(request)));
  assert.ok(texts.size > 900);
});

test("the fuzzer notices each kind of wrong answer", async () => {
  const partner = await createPartner(api);
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const wire = new Wire(url);
  after(() => wire.close());
  const asked = (method: string, target: string, headers: [string, string][] = []): FuzzRequest => ({
    method,
    target,
    headers: [["x-request-id", "fuzz-planted"], ...headers],
    body: null,
    kind: "valid",
    who: "key",
    requestId: "fuzz-planted",
  });
  const authorization: [string, string] = ["authorization", `Bearer ${partner.key.secret}`];
  const read = asked("GET", `/v1/sessions/${session.id}`, [authorization]);
  const list = asked("GET", "/v1/sessions?limit=1", [authorization]);
  const refused = asked("GET", "/v1/sessions");
  const cancel = asked("POST", `/v1/sessions/${session.id}/cancel`, [authorization]);
  const head = asked("HEAD", "/v1/sessions", [authorization]);
  const noMethod = asked("PUT", "/v1/sessions", [authorization]);
  type Change = (
    answer: WireAnswer,
    body: Record<string, any>,
  ) => Partial<WireAnswer> | Record<string, unknown>;
  const rewritten = (body: unknown) => ({ body: Buffer.from(JSON.stringify(body)) });
  const withHeader = (answer: WireAnswer, name: string, value: string | null) => {
    const headers = new Map(answer.headers);
    if (value === null) headers.delete(name);
    else headers.set(name, value);
    return { headers };
  };
  const planted: readonly [what: string, request: FuzzRequest, change: Change, problem: RegExp][] = [
    ["a fault of the service", read, () => ({ status: 500 }), /^status 500$/],
    ["an upstream fault", read, () => ({ status: 502 }), /^status 502$/],
    ["503 that does not say when to come back", read, () => ({ status: 503 }), /without Retry-After/],
    ["a status that is not documented", read, () => ({ status: 206 }), /status 206 is not documented/],
    ["a redirect", read, () => ({ status: 302 }), /status 302 is not documented/],
    [
      "a missing field",
      read,
      (_, { data: { status: _status, ...data }, error }) => rewritten({ data, error }),
      /does not fit the schema/,
    ],
    [
      "a field of another type",
      read,
      (_, body) => rewritten({ ...body, data: { ...body.data, sandbox: "yes" } }),
      /does not fit/,
    ],
    [
      "a word that is not in the list",
      read,
      (_, body) => rewritten({ ...body, data: { ...body.data, status: "odd" } }),
      /does not fit/,
    ],
    [
      "a field that is not declared",
      read,
      (_, body) => rewritten({ ...body, data: { ...body.data, cancel_token: "x" } }),
      /data\.cancel_token is not documented/,
    ],
    ["a list without pagination", list, (_, { data, error }) => rewritten({ data, error }), /does not fit/],
    [
      "an envelope with a part too many",
      read,
      (_, body) => rewritten({ ...body, debug: 1 }),
      /\.debug is not documented/,
    ],
    ["no envelope", refused, () => rewritten({ message: "Unauthorized" }), /does not fit/],
    [
      "an error without a hint",
      refused,
      (_, { data, error: { hint: _hint, ...error }, pagination }) => rewritten({ data, error, pagination }),
      /does not fit/,
    ],
    [
      "a code of another status",
      refused,
      (_, body) => rewritten({ ...body, error: { ...body.error, code: "CONFLICT" } }),
      /CONFLICT is not documented/,
    ],
    [
      "a list refused without pagination",
      refused,
      (_, { data, error }) => rewritten({ data, error }),
      /does not fit/,
    ],
    ["text instead of JSON", read, () => ({ body: Buffer.from("oops") }), /not JSON/],
    [
      "another content type",
      read,
      (answer) => withHeader(answer, "content-type", "text/html"),
      /content type text\/html/,
    ],
    ["no X-Request-Id", read, (answer) => withHeader(answer, "x-request-id", null), /no X-Request-Id/],
    [
      "an X-Request-Id of another request",
      read,
      (answer) => withHeader(answer, "x-request-id", "fuzz-other"),
      /neither/,
    ],
    [
      "an answer without the standard headers",
      read,
      (answer) => withHeader(answer, "x-content-type-options", null),
      /standard headers/,
    ],
    ["a body with 204", cancel, () => ({ body: Buffer.from("{}") }), /a body with status 204/],
    ["a body for HEAD", head, () => ({ body: Buffer.from("{}") }), /a body for HEAD/],
    ["405 without Allow", noMethod, (answer) => withHeader(answer, "allow", null), /405 without Allow/],
    ["405 for a method that there is", read, () => ({ status: 405 }), /405 for a method/],
    [
      "a secret in an answer to GET",
      list,
      (_, body) =>
        rewritten({
          ...body,
          data: [{ ...body.data[0], redirect_url: `https://shop.example.com/?k=kk_${"a".repeat(32)}` }],
        }),
      /holds a secret/,
    ],
    [
      "something of another organization",
      list,
      (_, body) =>
        rewritten({ ...body, data: [{ ...body.data[0], redirect_url: "https://shop.example.com/canary" }] }),
      /another organization/,
    ],
    [
      "a stack in an error",
      refused,
      (_, body) => rewritten({ ...body, error: { ...body.error, message: "at f (/app/x.ts:1:2)" } }),
      /speaks of the inside/,
    ],
    [
      "SQL in an error",
      refused,
      (_, body) => rewritten({ ...body, error: { ...body.error, message: 'violates foreign key "a"' } }),
      /speaks of the inside/,
    ],
  ];
  for (const [what, request, change, problem] of planted) {
    const answer = await wire.send(request);
    assert.ok(answer !== null);
    assert.equal(judge(operations, request, answer, ["canary"]).problem, null, `before: ${what}`);
    const body = answer.body.length === 0 ? {} : JSON.parse(answer.body.toString());
    const wrong = { ...answer, ...change(answer, body) } as WireAnswer;
    assert.match(judge(operations, request, wrong, ["canary"]).problem ?? "nothing", problem, what);
  }
  assert.equal(judge(operations, read, null, []).problem, "no answer");
  assert.ok(isFault('{"level":"error","message":"request failed"}'));
  assert.ok(isFault("TypeError: x is not a function"));
  assert.ok(isFault('{"level":"warn","message":"background job failed, will run again"}'));
  assert.ok(!isFault('{"level":"info","message":"request"}'));
});
