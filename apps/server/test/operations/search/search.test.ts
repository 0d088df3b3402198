import assert from "node:assert/strict";
import test from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { sessionsOfBeginning } from "../../../src/verification/sessions/session.store.ts";
import { createPartner, expectData, expectError, signUp } from "../../support/api.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { createReceivingEndpoint } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { createSession } from "../../support/sessions.ts";

const { api, core, runJob } = await startTestService({
  role: "api",
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
type Found = { kind: string; id: string; title: string | null; detail: string | null };

const find = async (caller: typeof api, text: string) =>
  expectData<{ found: Found[] }>(await caller.get("/v1/auth/orgs/search", { text })).found;
const ids = (found: readonly Found[]) => found.map(({ id }) => id);

test("sessions are found by id, by its beginning and by reference; members by a part of their address", async () => {
  const partner = await createPartner(api);
  const { owner } = partner;
  const first = await createSession(partner.api, { client_reference_id: "order-1" });
  const second = await createSession(partner.api, { client_reference_id: "Order-1" });
  assert.deepEqual(await find(owner.api, ` ${first} `), [
    { ...(await find(owner.api, first))[0], kind: "session", id: first, title: "order-1", detail: "created" },
  ]);
  assert.deepEqual(ids(await find(owner.api, first.slice(0, 8))), [second, first]);
  assert.deepEqual(ids(await find(owner.api, "order-1")), [first], "a capital letter is another");
  const [member] = await find(owner.api, owner.email.slice(2, -4).toUpperCase());
  assert.deepEqual([member?.kind, member?.detail], ["member", owner.email]);
  assert.deepEqual(await find(owner.api, "%"), [], "no sign stands for another");
  assert.deepEqual(await find(owner.api, "  "), []);
});

test("a session is found by the prefix of its reference, the exact match first and then the latest", async () => {
  const partner = await createPartner(api);
  const { owner } = partner;
  const references = [
    "booking",
    "booking-1",
    "booking-2",
    "bookin",
    "Booking-3",
    "booking%",
    "bøking-1",
    "x-booking",
  ];
  const made = new Map<string, string>();
  for (const reference of references)
    made.set(reference, await createSession(partner.api, { client_reference_id: reference }));
  const titles = async (text: string) => (await find(owner.api, text)).map(({ title }) => title);
  assert.deepEqual(await titles("booking"), ["booking", "booking%", "booking-2", "booking-1"]);
  assert.deepEqual(await titles("booking-"), ["booking-2", "booking-1"]);
  assert.deepEqual(await titles("booking%"), ["booking%"], "no sign stands for another");
  assert.deepEqual(await titles("booking_"), []);
  assert.deepEqual(await titles("bø"), ["bøking-1"]);
  assert.deepEqual(ids(await find(owner.api, "Boo")), [made.get("Booking-3")]);
  for (let count = 0; count < 30; count += 1)
    await createSession(partner.api, { client_reference_id: `order-${count}` });
  assert.deepEqual(await titles("order"), ["order-29", "order-28", "order-27", "order-26", "order-25"]);
  const path = "/v1/auth/orgs/search";
  const { found } = expectData<{ found: Found[] }>(await owner.api.get(path, { text: "o", kind: "session" }));
  assert.equal(found.length, 25, "more of one kind");
  assert.ok(found.every(({ kind }) => kind === "session"));
  expectError(await owner.api.get(path, { text: "o", kind: "key" }), 400, "BAD_REQUEST", /`kind`/);
});

test("an index leads to the beginning of a reference, however many sessions there are", async () => {
  const { organizationId } = await createPartner(api);
  const plan = await core.db.transaction(async (tx) => {
    await tx.run(sql`
      insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox, cancel_token_hash,
        client_reference_id, expires_at, created_at, updated_at)
      select 'vs_' || lpad(number::text, 64, '0'), ${organizationId}, 'created', 1, '{}', '{}', true, '', 'order-' || number,
        ${core.clock.now()}, ${core.clock.now()}, ${core.clock.now()}
      from generate_series(1, 5000) number`);
    await tx.run(sql`analyze sessions`);
    const lines = await tx.rows<{ "QUERY PLAN": string }>(
      sql`explain ${sessionsOfBeginning({ organizationId, environment: "sandbox" }, "order-77", 5)}`,
    );
    await tx.run(sql`delete from sessions where organization_id = ${organizationId}`);
    return lines.map((line) => line["QUERY PLAN"]).join("\n");
  });
  assert.match(plan, /Index Scan.* sessions_reference_beginning/);
  assert.match(plan, /Index Cond: .*organization_id.*sandbox.*~>=~.*~<~/);
  assert.doesNotMatch(plan, /Seq Scan/);
});

test("events, deliveries and endpoints are found by their id", async () => {
  const { api: key, owner } = await createPartner(api);
  const endpoint = await createReceivingEndpoint(key, "https://127.0.0.1:9/hook", { name: "Mine" });
  const sent = expectData(await key.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  const kinds = async (id: string) => (await find(owner.api, id)).map(({ kind, title }) => [kind, title]);
  assert.deepEqual(await kinds(endpoint.id), [["webhook_endpoint", "Mine"]]);
  assert.deepEqual(await kinds(sent.event.id), [["event", null]]);
  assert.deepEqual(await kinds(sent.deliveries[0].id), [["delivery", null]]);
  assert.deepEqual(await kinds("whe_nothing"), []);
});

test("nothing is found of another organization or of the other environment", async () => {
  const [one, other] = [await createPartner(api), await createPartner(api)];
  await openLive(core, one.organizationId);
  const live = await withLiveKey(one);
  const real = await createSession(live.api, { client_reference_id: "same" });
  const trial = await createSession(one.api, { client_reference_id: "same" });
  assert.deepEqual(ids(await find(one.owner.api, "same")), [trial]);
  assert.deepEqual(ids(await find(one.owner.api.in("live"), "same")), [real]);
  assert.deepEqual(await find(one.owner.api, real), []);
  for (const text of ["same", real, trial, trial.slice(0, 10), one.owner.email])
    assert.deepEqual(await find(other.owner.api, text), [], text);
});

test("searching takes a member and a text", async () => {
  const { api: key, owner } = await createPartner(api);
  const path = "/v1/auth/orgs/search";
  expectError(await key.get(path, { text: "x" }), 403, "API_KEY_NOT_ALLOWED");
  expectError(await (await signUp(api)).api.get(path, { text: "x" }), 400, "ORGANIZATION_REQUIRED");
  expectError(await owner.api.get(path), 400, "BAD_REQUEST", /`text`/);
});

test("a request is found by the id of its answer, in its own organization", async () => {
  const [one, other] = [await createPartner(api), await createPartner(api)];
  const answer = await one.api.get("/v1/sessions");
  const id = answer.headers.get("x-request-id") ?? "";
  await runJob("flush-key-usage");
  const [found, ...more] = await find(one.owner.api, id);
  assert.deepEqual([found?.kind, found?.id, found?.detail], ["api_request", id, "GET /v1/sessions 200"]);
  assert.equal(more.length, 0);
  assert.deepEqual(await find(other.owner.api, id), []);
});
