import assert from "node:assert/strict";
import test from "node:test";
import { statusClasses } from "@assay/contract/api-log";
import type { ApiKeyId } from "@assay/contract/ids";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { knownId } from "../../../src/platform/kernel/ids.ts";
import { Metrics } from "../../../src/platform/lib/metrics.ts";
import { ApiLog, maxBuffered } from "../../../src/tenants/api-keys/api-log.ts";
import { requestPage } from "../../../src/tenants/api-keys/api-request.store.ts";
import { type Api, createKey, createPartner, expectData, expectError, readAll } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { startTestService } from "../../support/service.ts";
import { createSession } from "../../support/sessions.ts";

const service = await startTestService({ role: "all", env: { METRICS_TOKEN: "scraper" } });
const { api, core, clock, runJob, url } = service;
const { db } = core;

type Entry = {
  id: string;
  request_id: string;
  api_key: { id: string; name: string | null };
  method: string;
  path: string;
  status: number;
  error_code: string | null;
  duration_ms: number;
  replayed: boolean;
  count: number;
  created_at: string;
};
type Query = Record<string, string | number | undefined>;
const path = "/v1/auth/orgs/api-requests";

/** What the log has once every machine has written what it knows. */
async function logOf(owner: { api: Api }, query: Query = {}): Promise<Entry[]> {
  await runJob("flush-key-usage");
  return expectData<Entry[]>(await owner.api.get(path, { limit: 100, ...query }));
}

const requestIdOf = ({ headers }: { headers: Headers }) => headers.get("x-request-id") ?? "";
const lineOf = ({ method, path, status, error_code }: Entry) =>
  [method, path, status, error_code].filter((part) => part !== null).join(" ");
const refuse = (id: string) => ({ "x-request-id": id });

test("the log has each request of a key with its outcome, newest first, and finds it by the id of its answer", async () => {
  const { owner, key, api: partner } = await createPartner(api);
  const id = await createSession(partner);
  clock.advance(1);
  const failed = await partner.post("/v1/sessions", {
    share_fields: { shoe_size: { required: true, reason: "x" } },
  });
  expectError(failed, 400, "UNKNOWN_CLAIM_KEY");
  clock.advance(1);
  expectData(await partner.get(`/v1/sessions/${id}?`));
  clock.advance(1);
  expectError(await partner.get("/v1/auth/orgs/audit-logs"), 403, "API_KEY_NOT_ALLOWED");
  clock.advance(1);
  expectError(await partner.get("/v1/sesions"), 404, "NOT_FOUND");
  clock.advance(1);
  expectError(await partner.delete("/v1/sessions"), 405, "METHOD_NOT_ALLOWED");
  const entries = await logOf(owner);
  assert.deepEqual(entries.map(lineOf), [
    "DELETE /v1/sessions 405 METHOD_NOT_ALLOWED",
    "GET /v1/sesions 404 NOT_FOUND",
    "GET /v1/auth/orgs/audit-logs 403 API_KEY_NOT_ALLOWED",
    `GET /v1/sessions/${id} 200`,
    "POST /v1/sessions 400 UNKNOWN_CLAIM_KEY",
    "POST /v1/sessions 201",
  ]);
  const [found, ...others] = await logOf(owner, { request_id: requestIdOf(failed) });
  assert.ok(found !== undefined && others.length === 0);
  assert.deepEqual(
    { ...found, id: "", duration_ms: 0 },
    {
      id: "",
      request_id: requestIdOf(failed),
      api_key: { id: key.id, name: "test key" },
      method: "POST",
      path: "/v1/sessions",
      status: 400,
      error_code: "UNKNOWN_CLAIM_KEY",
      duration_ms: 0,
      replayed: false,
      count: 1,
      created_at: new Date(clock.now().getTime() - 4).toISOString(),
    },
  );
});

test("requests of people are not in the log, whether by cookie or by token", async () => {
  const { owner } = await createPartner(api);
  expectData(await owner.api.get("/v1/sessions"));
  await fetch(`${url}/v1/sessions`, { headers: { cookie: `assay_session=${owner.token}` } });
  assert.deepEqual(await logOf(owner), []);
});

test("a disabled key is refused and logged; refusals of an unknown and a deleted key are in no log", async () => {
  const { owner, key, api: partner } = await createPartner(api);
  const other = await createKey(owner);
  expectData(await owner.api.patch(`/v1/auth/api-keys/${key.id}`, { enabled: false }));
  expectError(await partner.get("/v1/sessions"), 401, "UNAUTHORIZED");
  clock.advance(1);
  assert.equal((await partner.post("/mcp", {})).status, 401);
  expectError(await api.as(`kk_${"0".repeat(32)}`).get("/v1/sessions"), 401, "UNAUTHORIZED");
  expectData(await other.api.get("/v1/sessions"));
  assert.deepEqual((await logOf(owner, { api_key_id: key.id })).map(lineOf), [
    "POST /mcp 401 UNAUTHORIZED",
    "GET /v1/sessions 401 UNAUTHORIZED",
  ]);
  assert.equal((await owner.api.delete(`/v1/auth/api-keys/${other.id}`)).status, 204);
  expectError(await other.api.get("/v1/sessions"), 401, "UNAUTHORIZED");
  const entries = (await logOf(owner)).filter((entry) => entry.api_key.id === other.id);
  assert.deepEqual(
    entries.map(({ api_key, status }) => [api_key.name, status]),
    [[null, 200]],
    "what a key did stays when the key goes, without its name",
  );
});

test("an answer that is repeated for an Idempotency-Key says so", async () => {
  const { owner, api: partner } = await createPartner(api);
  for (let i = 0; i < 2; i++) {
    clock.advance(1);
    expectData(await partner.post("/v1/sessions", {}, { "idempotency-key": "order-1" }), 201);
  }
  assert.deepEqual(
    (await logOf(owner)).map(({ replayed }) => replayed),
    [true, false],
  );
});

test("an agent's call is in the log, and so is the request that it stands for", async () => {
  const { owner, api: partner } = await createPartner(api);
  const answer = await partner.post("/mcp", {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "listSessions", arguments: {} },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual((await logOf(owner, { request_id: requestIdOf(answer) })).map(lineOf).sort(), [
    "GET /v1/sessions 200",
    "POST /mcp 200",
  ]);
});

test("the log belongs to an organization and an environment, also where ids of requests are chosen alike", async () => {
  const one = await createLivePartner(core, api);
  const sandboxKey = await createKey(one.owner);
  const other = await createPartner(api);
  const headers = refuse("chosen-by-the-client");
  for (const as of [one.api, sandboxKey.api, other.api])
    expectData(await as.call("GET", "/v1/sessions", { headers }));
  const seenBy = async (owner: { api: Api }, query: Query) =>
    (await logOf(owner, query)).map(({ api_key }) => api_key.id);
  const chosen = { request_id: "chosen-by-the-client" };
  assert.deepEqual(await seenBy(one.owner, chosen), [sandboxKey.id]);
  assert.deepEqual(await seenBy({ api: one.owner.api.in("live") }, chosen), [one.key.id]);
  assert.deepEqual(await seenBy(other.owner, chosen), [other.key.id]);
  assert.deepEqual(await seenBy(other.owner, { api_key_id: one.key.id }), []);
  assert.deepEqual(
    await seenBy(one.owner, { api_key_id: one.key.id }),
    [],
    "a key of live, asked for in the sandbox",
  );
  assert.deepEqual(await seenBy(other.owner, { request_id: "never-chosen" }), []);
  const [mine] = await logOf(one.owner);
  expectError(await other.owner.api.get(path, { starting_after: mine?.id }), 400, "INVALID_REQUEST");
});

test("lists by key, class of status, id and time have each entry once, page by page", async () => {
  const { owner, key, api: partner } = await createPartner(api);
  const second = await createKey(owner);
  for (const as of [partner, second.api]) expectData(await as.get("/v1/sessions"));
  const begin = clock.now();
  for (let i = 0; i < 12; i++) {
    clock.advance(1000);
    const as = i % 3 === 0 ? second.api : partner;
    const headers = refuse(`repeated-id-${i % 2}`);
    await as.call("GET", i % 4 === 0 ? "/v1/sessions" : i % 4 === 1 ? "/v1/nowhere" : "/v1/sessions/x", {
      headers,
    });
  }
  const all = await logOf(owner);
  assert.equal(all.length, 14);
  const created = (at: number) => new Date(begin.getTime() + at).toISOString();
  const is: Record<string, (entry: Entry, asked: string) => boolean> = {
    api_key_id: (entry, asked) => entry.api_key.id === asked,
    status_class: (entry, asked) => `${String(entry.status)[0]}xx` === asked,
    request_id: (entry, asked) => entry.request_id === asked,
    created_from: (entry, asked) => entry.created_at >= asked,
    created_to: (entry, asked) => entry.created_at <= asked,
  };
  for (const apiKeyId of [undefined, key.id, second.id])
    for (const statusClass of [undefined, ...statusClasses])
      for (const requestId of [undefined, "repeated-id-1"])
        for (const [createdFrom, createdTo] of [[], [created(3000), created(9000)]]) {
          const query = {
            api_key_id: apiKeyId,
            status_class: statusClass,
            request_id: requestId,
            created_from: createdFrom,
            created_to: createdTo,
          };
          const asked = Object.entries(query).filter(
            (entry): entry is [string, string] => entry[1] !== undefined,
          );
          const expected = all.filter((entry) => asked.every(([name, value]) => is[name]?.(entry, value)));
          const read = await readAll<Entry>(owner.api, path, query, 5);
          assert.deepEqual(
            read.map(({ id }) => id),
            expected.map(({ id }) => id),
            JSON.stringify(query),
          );
        }
  expectError(await owner.api.get(path, { status_class: "9xx" }), 400, "BAD_REQUEST");
  expectError(
    await owner.api.get(path, { created_from: created(1), created_to: created(0) }),
    400,
    "PERIOD_INVALID",
  );
});

test("every list is a range of an index, also where nothing fits", async () => {
  const { owner, key } = await createPartner(api);
  const tenant = { organizationId: owner.organizationId, environment: "sandbox" as const };
  await db.run(sql`
    insert into api_requests (id, organization_id, api_key_id, created_at, duration_ms, requests, status, sandbox, replayed, method, request_id, path)
    select uuidv7(), ${owner.organizationId}, ${key.id}, ${clock.now()}::timestamptz - n * interval '1 second', 1, 1, 200, true, false, 'GET', 'the-same-for-all', '/v1/sessions'
    from generate_series(1, 20000) n`);
  await db.run(sql`analyze api_requests`);
  const keyId = knownId<ApiKeyId>(key.id);
  const filters = {
    api_requests_organization: [{}, { statusClass: "5xx" as const }],
    api_requests_key: [{ keyId }, { keyId, statusClass: "5xx" as const }],
    api_requests_request: [
      { requestId: "the-same-for-all" },
      { requestId: "none", statusClass: "2xx" as const },
    ],
  };
  for (const [index, ofIndex] of Object.entries(filters))
    for (const filter of ofIndex) {
      const page = requestPage(tenant, filter, 11);
      const rows = await db.rows<{ queryPlan: string }>(sql`explain (analyze, buffers, costs off) ${page}`);
      const plan = rows.map((row) => Object.values(row)[0]).join("\n");
      assert.match(plan, new RegExp(`Index.* ${index}`), plan);
      // Of 20,000 rows no more than a page and one is looked at.
      const read = [...plan.matchAll(/api_requests.*rows=(\d+)/g)].map(([, count]) => Number(count));
      assert.ok(Math.max(...read) <= 12, plan);
      assert.doesNotMatch(plan, /Rows Removed by Filter: \d{2,}/, plan);
    }
  await db.run(sql`delete from api_requests where organization_id = ${owner.organizationId}`);
});

test("nothing that a caller sent is in the table but words of routes and identifiers of ours", async () => {
  const { owner, key, api: partner } = await createPartner(api);
  const canaries = ["canary@example.com", "CanaryLovelace", "canary20260301", "canary_Token", key.secret];
  for (const canary of canaries) {
    const encoded = encodeURIComponent(canary);
    await partner.get(`/v1/sessions/${encoded}`);
    await partner.get(`/v1/${encoded}/x`);
    await partner.get(`/v1/sessions?client_reference_id=${encoded}`);
    await partner.get(`/v1/sessions?${encoded}=1`);
    await partner.post(
      "/v1/sessions",
      { client_reference_id: canary, metadata: { who: canary } },
      { "idempotency-key": encoded },
    );
    await partner.call("POST", "/v1/sessions", {
      raw: `{"${canary}`,
      headers: { "content-type": "application/json" },
    });
    await partner.call("GET", "/v1/sessions", {
      headers: { "x-request-id": `not an id: ${encoded}`, cookie: `canary=${canary}`, "user-agent": canary },
    });
  }
  const entries = await logOf(owner);
  assert.equal(entries.length, 7 * canaries.length);
  const { text } = await db.one<{ text: string }>(
    sql`select string_agg(r::text, ' ') as text from api_requests r where organization_id = ${owner.organizationId}`,
  );
  for (const canary of [...canaries, "%40"]) assert.ok(!text.includes(canary), canary);
});

test("long paths, bytes that are no text and thousands of wrong paths leave short entries, and every answer as it was", async () => {
  const { owner, key, api: partner } = await createPartner(api);
  expectData(await partner.get("/v1/sessions"));
  const raw = (target: string) =>
    sendRaw(
      url,
      `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key.secret}\r\n\r\n`,
    );
  for (const [target, status] of [
    [`/v1/${"a/".repeat(6000)}`, 404],
    [`/v1/sessions/${"A".repeat(12_000)}`, 400],
    ["/v1/sessions/%00", 400],
    ["/v1/sessions/%ED%A0%80", 400],
    ["/v1/sessions/\u00ff\u00fe", 400],
  ] as const)
    assert.equal((await raw(target)).status, status, target.slice(0, 40));
  for (let i = 0; i < 20; i++)
    await Promise.all(Array.from({ length: 100 }, (_, at) => partner.get(`/v1/wrong/${i}/${at}`)));
  await runJob("flush-key-usage");
  const { count, longest } = await db.one<{ count: number; longest: number }>(sql`
    select count(*) as count, max(length(path)) as longest from api_requests where organization_id = ${owner.organizationId}`);
  // A path that the router cannot decode is refused before the caller is identified.
  assert.ok(count >= 2000 + 1 + 3, `${count}`);
  assert.ok(longest <= 80, `${longest}`);
  assert.equal((await logOf(owner))[0]?.path, "/v1/wrong/…/…");
});

test("entries go after seven days", async () => {
  const { owner, api: partner } = await createPartner(api);
  expectData(await partner.get("/v1/sessions"));
  assert.equal((await logOf(owner)).length, 1);
  clock.advance(7 * dayMs - 1000);
  await runJob("purge-api-requests");
  assert.equal((await logOf(owner)).length, 1);
  clock.advance(1001);
  await runJob("purge-api-requests");
  assert.equal((await logOf(owner)).length, 0);
});

test("what a closing process has not written yet is written before it ends", async () => {
  const { owner, api: partner } = await createPartner(api);
  const other = await startTestService({ machines: 1, databaseUrl: service.databaseUrl, clock });
  const answer = await new (partner.constructor as typeof Api)(other.url)
    .as((await createKey(owner)).secret)
    .get("/v1/sessions");
  await other.close();
  assert.equal(
    (await logOf(owner, { request_id: requestIdOf(answer) })).length,
    1,
    "another process shows it",
  );
});

test("with a table that cannot be written every request is answered, and the log leaves out what has no room", async () => {
  const { owner, api: partner, key } = await createPartner(api);
  const dropped = async () =>
    Number(
      /^assay_api_log_dropped_total (\d+)$/m.exec((await api.as("scraper").get("/metrics")).text)?.[1] ??
        Number.NaN,
    );
  const before = await dropped();
  await db.run(sql`alter table api_requests rename to api_requests_away`);
  try {
    expectData(await partner.get("/v1/sessions"));
    await runJob("flush-key-usage");
    assert.equal(await dropped(), before + 1, "a failure that would be repeated gives the rows up");
    const [keys] = expectData<{ request_count: number }[]>(await owner.api.get("/v1/auth/api-keys"));
    assert.equal(keys?.request_count, 1, "requests are counted all the same");
  } finally {
    await db.run(sql`alter table api_requests_away rename to api_requests`);
  }
  expectData(await partner.get("/v1/sessions"));
  assert.equal((await logOf(owner, { api_key_id: key.id })).length, 1);
});

test("answers with 503 of a key are one entry that counts, and what finds no room is left out and counted", async () => {
  const { owner, key } = await createPartner(api);
  const metrics = new Metrics();
  const log = new ApiLog({ ...core, metrics });
  const add = (requestId: string, status: number, code: string | null) =>
    log.add({
      ...{ keyId: knownId<ApiKeyId>(key.id), requestId, method: "GET", url: "/v1/sessions" },
      ...{ status, code, milliseconds: 1, isReplayed: false },
    });
  for (const id of ["first-503", "second-503", "third-503"]) add(id, 503, "SERVICE_UNAVAILABLE");
  add("another-503", 503, "REQUEST_RATE_EXCEEDED");
  for (let i = 2; i < maxBuffered; i++) add(`filler-${i}`, 200, null);
  for (let i = 0; i < 5; i++) add("without-room", 200, null);
  add("fourth-503", 503, "SERVICE_UNAVAILABLE");
  await log.flush();
  add("next-503", 503, "SERVICE_UNAVAILABLE");
  await log.flush();
  assert.match(metrics.render(), /^assay_api_log_dropped_total 5$/m);
  const refused = await logOf(owner, { status_class: "5xx" });
  assert.deepEqual(refused.map(({ request_id, count }) => [request_id, count]).sort(), [
    ["another-503", 1],
    ["first-503", 4],
    ["next-503", 1],
  ]);
  const { rows } = await db.one<{ rows: number }>(
    sql`select count(*) as rows from api_requests where api_key_id = ${key.id}`,
  );
  assert.equal(rows, maxBuffered + 1);
});
