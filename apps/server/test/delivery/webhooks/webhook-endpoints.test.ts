import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { resealAll } from "../../../src/platform/key-ring/sealed-columns.store.ts";
import { KeyRing, newRingKey, parseRing } from "../../../src/platform/lib/key-ring.ts";
import { createKey, createPartner, expectData, expectError } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { readMails } from "../../support/mails.ts";
import { registration } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";

const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "receiver.test" },
});
const { api, core, clock } = service;
const url = "https://receiver.test/hook?token=partner-secret";
const allTypes = [
  "verification.session.succeeded",
  "verification.session.failed",
  "verification.session.expired",
  "verification.session.cancelled",
  "webhook.endpoint.test",
];

type Partner = Awaited<ReturnType<typeof createPartner>>;

async function createEndpoint(partner: Partner, body: Record<string, unknown> = {}) {
  return expectData(await partner.api.post("/v1/webhooks/endpoints", { url, ...body }), 201);
}

test("an endpoint is created with its defaults, shows its secret once and warns that it has no key", async () => {
  const partner = await createPartner(api);
  const created = await createEndpoint(partner);
  assert.match(created.endpoint.id, /^whe_[A-Za-z0-9]{32}$/);
  assert.match(created.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(Buffer.from(created.signing_secret.slice(6), "base64").length, 32);
  assert.equal(created.warnings[0].code, "NO_ACTIVE_KEY");
  assert.deepEqual(created.endpoint, {
    id: created.endpoint.id,
    organization_id: partner.organizationId,
    environment: "sandbox",
    name: null,
    kind: "url",
    url,
    enabled: true,
    subscribed_event_types: allTypes,
    undelivered_payload_retention_hours: 72,
    has_active_key: false,
    created_at: clock.now().toISOString(),
    updated_at: clock.now().toISOString(),
    disabled_at: null,
    disabled_reason: null,
    last_seen_at: null,
  });
  const read = await partner.api.get(`/v1/webhooks/endpoints/${created.endpoint.id}`);
  assert.deepEqual(expectData(read), created.endpoint);
  assert.ok(!read.text.includes("whsec_"));
  // The secret is stored sealed, and the audit log contains neither it nor the partner's token.
  const rows = await core.db.rows(
    sql`select encode(signing_secret, 'escape') as sealed from webhook_endpoints`,
  );
  assert.ok(!JSON.stringify(rows).includes(created.signing_secret.slice(6)));
  const audit = await partner.owner.api.get("/v1/auth/orgs/audit-logs");
  assert.ok(audit.text.includes("webhook_endpoint.created"));
  assert.ok(!audit.text.includes("partner-secret") && !audit.text.includes("whsec_"));
});

test("every setting can be given, changed and cleared", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner, {
    name: " Main ",
    undelivered_payload_retention_hours: 168,
    subscribed_event_types: [],
  });
  assert.deepEqual(
    [endpoint.name, endpoint.undelivered_payload_retention_hours, endpoint.subscribed_event_types],
    ["Main", 168, []],
  );
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  clock.advance(1000);
  const changed = expectData(
    await partner.api.patch(path, {
      name: null,
      url: "https://receiver.test/other",
      enabled: false,
      subscribed_event_types: ["verification.session.failed"],
      undelivered_payload_retention_hours: 0,
    }),
  );
  assert.deepEqual(
    [changed.name, changed.url, changed.enabled, changed.subscribed_event_types],
    [null, "https://receiver.test/other", false, ["verification.session.failed"]],
  );
  assert.deepEqual(
    [changed.undelivered_payload_retention_hours, changed.disabled_reason, changed.disabled_at],
    [0, "disabled_by_request", clock.now().toISOString()],
  );
  assert.equal(changed.updated_at, clock.now().toISOString());
  const enabled = expectData(await partner.api.patch(path, { enabled: true }));
  assert.deepEqual([enabled.enabled, enabled.disabled_at, enabled.disabled_reason], [true, null, null]);
  assert.deepEqual(enabled.subscribed_event_types, ["verification.session.failed"]);
});

test("a change touches what it names and nothing else", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner, { name: "Main", subscribed_event_types: [] });
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  let expected = endpoint;
  const change = async (body: Record<string, unknown>, effect: Record<string, unknown> = body) => {
    clock.advance(1000);
    expected = { ...expected, ...effect, updated_at: clock.now().toISOString() };
    assert.deepEqual(expectData(await partner.api.patch(path, body)), expected, JSON.stringify(body));
  };
  await change({ name: " Renamed " }, { name: "Renamed" });
  await change({ url: "https://receiver.test/other" });
  await change({ subscribed_event_types: ["webhook.endpoint.test"] });
  await change({ undelivered_payload_retention_hours: 24 });
  await change({ enabled: true });
  const at = new Date(clock.now().getTime() + 1000).toISOString();
  await change(
    { enabled: false },
    { enabled: false, disabled_at: at, disabled_reason: "disabled_by_request" },
  );
  await change({ enabled: false });
  await change({ name: null });
  await change({ enabled: true }, { enabled: true, disabled_at: null, disabled_reason: null });
  assert.deepEqual(expectData(await partner.api.get(path)), expected);
});

test("of a changed URL the audit log holds the host, never the path or the query", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner);
  expectData(
    await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, {
      name: "Moved",
      url: "https://receiver.test/path-secret?token=query-secret",
    }),
  );
  const audit = await partner.owner.api.get("/v1/auth/orgs/audit-logs");
  const [changed] = expectData<{ event: string; details: unknown }[]>(audit).filter(
    ({ event }) => event === "webhook_endpoint.updated",
  );
  assert.deepEqual(changed?.details, { name: "Moved", host: "receiver.test" });
  assert.ok(!audit.text.includes("path-secret") && !audit.text.includes("query-secret"));
});

test("the list is newest first, paged, and filtered by enabled", async () => {
  const partner = await createPartner(api);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    clock.advance(10);
    ids.unshift((await createEndpoint(partner)).endpoint.id);
  }
  expectData(await partner.api.patch(`/v1/webhooks/endpoints/${ids[1]}`, { enabled: false }));
  const idsOf = async (query: Record<string, string | number | boolean>) => {
    const answer = await partner.api.get("/v1/webhooks/endpoints", query);
    return { ids: expectData<{ id: string }[]>(answer).map(({ id }) => id), page: answer.body.pagination };
  };
  const first = await idsOf({ limit: 2 });
  assert.deepEqual(first.ids, ids.slice(0, 2));
  assert.deepEqual(first.page, { limit: 2, has_more: true, next_cursor: ids[1] });
  assert.deepEqual((await idsOf({ limit: 10, starting_after: ids[1] ?? "" })).ids, ids.slice(2));
  assert.deepEqual((await idsOf({ enabled: false })).ids, [ids[1]]);
  assert.equal((await idsOf({ enabled: true })).ids.length, 4);
  const list = (query: Record<string, string>) => partner.api.get("/v1/webhooks/endpoints", query);
  expectError(await list({ enabled: "maybe" }), 400, "BAD_REQUEST", /`enabled`/);
  expectError(await list({ starting_after: "whe_1" }), 400, "BAD_REQUEST", /`starting_after`/);
  expectError(await list({ starting_after: `whe_${"x".repeat(32)}` }), 400, "INVALID_REQUEST");
});

test("bad input names the field", async () => {
  const partner = await createPartner(api);
  const post = (body: unknown) => partner.api.post("/v1/webhooks/endpoints", body);
  expectError(await post({}), 400, "BAD_REQUEST", /`url` is required/);
  expectError(await post({ url, name: "x".repeat(121) }), 400, "BAD_REQUEST", /`name`/);
  expectError(await post({ url, name: "" }), 400, "BAD_REQUEST", /`name`/);
  expectError(await post({ url, enabled: true }), 400, "BAD_REQUEST", /`enabled` is not a field/);
  expectError(
    await post({ url, subscribed_event_types: ["nothing"] }),
    400,
    "BAD_REQUEST",
    /`subscribed_event_types/,
  );
  expectError(
    await post({ url, undelivered_payload_retention_hours: 48 }),
    400,
    "BAD_REQUEST",
    /`undelivered_payload_retention_hours`/,
  );
  expectError(
    await post({ url: "http://receiver.test/" }),
    400,
    "WEBHOOK_URL_REJECTED",
    /`url` must start with https/,
  );
  const { endpoint } = await createEndpoint(partner);
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  expectError(await partner.api.patch(path, {}), 400, "BAD_REQUEST", /at least one field/);
  expectError(await partner.api.patch(path, { id: "x" }), 400, "BAD_REQUEST", /`id`/);
  expectError(await partner.api.patch(path, { url: "https://10.0.0.1/" }), 400, "WEBHOOK_URL_REJECTED");
  expectError(await partner.api.get("/v1/webhooks/endpoints/whe_short"), 400, "BAD_REQUEST", /`endpoint_id`/);
});

test("scopes and roles decide; the secret is for owners only and every reveal is audited", async () => {
  const partner = await createPartner(api);
  const { endpoint, signing_secret: secret } = await createEndpoint(partner);
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  const reader = (await createKey(partner.owner, ["webhooks:read"])).api;
  const writer = (await createKey(partner.owner, ["webhooks:write"])).api;
  expectData(await reader.get(path));
  expectError(await reader.patch(path, { name: "x" }), 403, "FORBIDDEN", /webhooks:write/);
  expectError(await writer.get(path), 403, "FORBIDDEN", /webhooks:read/);
  expectData(await writer.patch(path, { name: "x" }));
  expectError(await writer.post(`${path}/signing-secret/reveal`), 403, "API_KEY_NOT_ALLOWED");
  expectError(await api.get(path), 401, "UNAUTHORIZED");
  const revealed = expectData(await partner.owner.api.post(`${path}/signing-secret/reveal`));
  assert.deepEqual(revealed, { endpoint_id: endpoint.id, signing_secret: secret });
  const rotated = expectData(await writer.post(`${path}/signing-secret/rotate`));
  assert.notEqual(rotated.signing_secret, secret);
  assert.equal(
    expectData(await partner.owner.api.post(`${path}/signing-secret/reveal`)).signing_secret,
    rotated.signing_secret,
  );
  const audit = expectData<any[]>(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "webhook_secret.revealed" }),
  );
  assert.deepEqual(
    audit.map((entry) => [entry.target_id, entry.actor_id]),
    [
      [endpoint.id, partner.owner.userId],
      [endpoint.id, partner.owner.userId],
    ],
  );
});

test("another organization's endpoint, key, delivery and event do not exist", async () => {
  const [mine, theirs] = [await createPartner(api), await createPartner(api)];
  const { endpoint } = await createEndpoint(mine);
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  const key = expectData(await mine.api.post(`${path}/keys`, registration("k")), 201);
  expectData(await mine.api.post(`/v1/webhooks/keys/${key.id}/deactivate`));
  const { event, deliveries } = expectData(await mine.api.post(`${path}/test`), 202);
  const { api: other } = theirs;
  const missing = [
    other.get(path),
    other.patch(path, { name: "x" }),
    other.delete(path),
    other.post(`${path}/signing-secret/rotate`),
    theirs.owner.api.post(`${path}/signing-secret/reveal`),
    other.post(`${path}/test`),
    other.post(`${path}/keys`, registration("k2")),
    other.get(`${path}/keys`),
    other.post(`/v1/webhooks/keys/${key.id}/deactivate`),
    other.post("/v1/webhooks/keys/k/reactivate"),
    other.get(`/v1/webhooks/deliveries/${deliveries[0].id}`),
    other.post(`/v1/webhooks/deliveries/${deliveries[0].id}/retry`),
    other.get(`/v1/webhooks/events/${event.id}`),
    other.post(`/v1/webhooks/events/${event.id}/replay`),
  ];
  for (const answer of await Promise.all(missing)) expectError(answer, 404, "NOT_FOUND");
  assert.deepEqual(expectData(await other.get("/v1/webhooks/events")), []);
  assert.deepEqual(expectData(await other.get("/v1/webhooks/deliveries", { event_id: event.id })), []);
});

test("a key is registered, listed, switched off and on by either of its names", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner);
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  const body = registration("2026-03");
  const key = expectData(await partner.api.post(`${path}/keys`, body), 201);
  assert.match(key.id, /^whk_[A-Za-z0-9]{32}$/);
  assert.deepEqual(key, {
    id: key.id,
    webhook_endpoint_id: endpoint.id,
    ...body,
    is_active: true,
    created_at: clock.now().toISOString(),
    updated_at: clock.now().toISOString(),
    deactivated_at: null,
  });
  assert.equal(expectData(await partner.api.get(path)).has_active_key, true);
  expectError(await partner.api.post(`${path}/keys`, body), 409, "CONFLICT");

  clock.advance(1000);
  const off = expectData(await partner.api.post(`/v1/webhooks/keys/${key.id}/deactivate`));
  assert.deepEqual([off.is_active, off.deactivated_at], [false, clock.now().toISOString()]);
  clock.advance(1000);
  assert.deepEqual(expectData(await partner.api.post("/v1/webhooks/keys/2026-03/deactivate")), off);
  const on = expectData(await partner.api.post("/v1/webhooks/keys/2026-03/reactivate"));
  assert.deepEqual([on.is_active, on.deactivated_at], [true, null]);
  assert.deepEqual(expectData(await partner.api.post(`/v1/webhooks/keys/${key.id}/reactivate`)), on);

  const second = (await createEndpoint(partner)).endpoint;
  expectData(await partner.api.post(`/v1/webhooks/endpoints/${second.id}/keys`, body), 201);
  expectError(
    await partner.api.post("/v1/webhooks/keys/2026-03/deactivate"),
    409,
    "CONFLICT",
    /Several keys/,
  );
  expectData(await partner.api.post(`/v1/webhooks/keys/${key.id}/deactivate`));
  expectError(await partner.api.post("/v1/webhooks/keys/nobody/deactivate"), 404, "NOT_FOUND");
  const list = await partner.api.get(`${path}/keys`);
  assert.equal(expectData<any[]>(list).length, 1);
  assert.deepEqual(list.body.pagination, { limit: 10, has_more: false, next_cursor: null });
  expectError(await partner.api.get(`/v1/webhooks/endpoints/whe_${"0".repeat(32)}/keys`), 404, "NOT_FOUND");
});

test("the id of a key means this key, also where another one was given the id as its name", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner);
  const path = `/v1/webhooks/endpoints/${endpoint.id}/keys`;
  const meant = expectData(await partner.api.post(path, registration("k")), 201);
  const other = expectData(await partner.api.post(path, registration(meant.id)), 201);
  const off = expectData(await partner.api.post(`/v1/webhooks/keys/${meant.id}/deactivate`));
  assert.deepEqual([off.id, off.is_active], [meant.id, false]);
  const states = expectData<any[]>(await partner.api.get(path)).map(({ id, is_active }) => [id, is_active]);
  assert.deepEqual(states, [
    [other.id, true],
    [meant.id, false],
  ]);
});

test("a key that is weak, private, odd or not what it says is refused by the field that is wrong", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner);
  const path = `/v1/webhooks/endpoints/${endpoint.id}/keys`;
  const good = registration("k");
  const refused = async (change: Record<string, unknown>, jwk: Record<string, unknown>, message: RegExp) =>
    expectError(
      await partner.api.post(path, { ...good, ...change, jwk: { ...good.jwk, ...jwk } }),
      400,
      "BAD_REQUEST",
      message,
    );
  const n = String(good.jwk.n);
  const bytes = Buffer.from(n, "base64url");
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });
  const whole = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  const even = Buffer.from(bytes);
  even[even.length - 1] = (even.at(-1) ?? 0) & 0xfe;
  await refused({}, { n: weak.n }, /`jwk.n` must have 2048 to 8192 bits, it has 1024/);
  await refused({}, { n: Buffer.alloc(1025, 0xff).toString("base64url") }, /`jwk.n`/);
  await refused({}, { n: even.toString("base64url") }, /`jwk.n`/);
  await refused(
    {},
    { n: Buffer.concat([Buffer.alloc(1), bytes]).toString("base64url") },
    /`jwk.n`.*leading zero/,
  );
  await refused({}, { n: `${n}=` }, /`jwk.n`/);
  await refused({}, { n: "" }, /`jwk.n`/);
  for (const e of ["AQAC", "AQAA", "Aw", "_____g", "AQAAAAE"])
    await refused({}, { e }, /`jwk.e` must be odd and from 65537 to 4294967295/);
  await refused({}, { e: "AAEAAQ" }, /`jwk.e`.*leading zero/);
  await refused({}, { d: whole.d }, /`jwk.d` is not a field/);
  for (const member of ["p", "q", "dp", "dq", "qi"])
    await refused({}, { [member]: "AQAB" }, /is not a field/);
  await refused({}, { k: "AQAB" }, /`jwk.k`/);
  await refused({}, { kty: "EC" }, /`jwk.kty`/);
  await refused({}, { alg: "RSA-OAEP" }, /`jwk.alg`/);
  await refused({}, { use: "sig" }, /`jwk.use`/);
  await refused({}, { kid: "other" }, /`jwk.kid` must equal `key_id`/);
  await refused({ algorithm: "RSA1_5" }, {}, /`algorithm`/);
  await refused({ key_type: "EC" }, {}, /`key_type`/);
  await refused({ key_id: "" }, { kid: "" }, /`key_id`|`jwk.kid`/);
  const { jwk: _jwk, ...withoutJwk } = good;
  expectError(await partner.api.post(path, withoutJwk), 400, "BAD_REQUEST", /`jwk` is required/);
  expectData(await partner.api.post(path, good), 201);
  // Both bounds of the allowed range.
  for (const numbers of [
    { n: Buffer.alloc(1024, 0xff).toString("base64url"), e: "AQAB" },
    { n, e: "_____w" },
  ])
    expectData(
      await partner.api.post(path, {
        ...good,
        key_id: numbers.e,
        jwk: { ...good.jwk, ...numbers, kid: numbers.e },
      }),
      201,
    );
});

test("a session of one environment cannot be bound to an endpoint of the other", async () => {
  const live = await createLivePartner(core, api);
  const sandbox = { ...live, api: (await createKey(live.owner)).api };
  const [own, other] = [await createEndpoint(sandbox), await createEndpoint(live)];
  const bind = ({ endpoint }: { endpoint: { id: string } }) =>
    sandbox.api.post("/v1/sessions", { webhook_endpoint_id: endpoint.id });
  assert.equal(expectData(await bind(own), 201).webhook_endpoint_id, own.endpoint.id);
  expectError(await bind(other), 400, "INVALID_REQUEST", /names no enabled webhook endpoint/);
});

test("an endpoint that is deleted is gone for good, its deliveries stay listed", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner);
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  const tested = expectData(await partner.api.post(`${path}/test`), 202);
  assert.equal((await partner.api.delete(path)).status, 204);
  expectError(await partner.api.get(path), 404, "NOT_FOUND");
  expectError(await partner.api.delete(path), 404, "NOT_FOUND");
  const listed = expectData<any[]>(
    await partner.api.get("/v1/webhooks/deliveries", { endpoint_id: endpoint.id }),
  );
  assert.deepEqual(
    listed.map(({ id }) => id),
    [tested.deliveries[0].id],
  );
});

test("a test event without a key is a failed delivery, and events and deliveries are found by every filter", async () => {
  const partner = await createPartner(api);
  const { endpoint } = await createEndpoint(partner, { subscribed_event_types: [] });
  const start = clock.now();
  const send = async () =>
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  const first = await send();
  assert.equal(first.event.type, "webhook.endpoint.test");
  assert.equal(first.event.sandbox, true);
  assert.deepEqual([first.deliveries[0].status, first.deliveries[0].last_error], ["failed", "no_active_key"]);
  clock.advance(1000);
  const second = await send();
  const ids = async (path: string, query: Record<string, string>) =>
    expectData<{ id: string }[]>(await partner.api.get(path, query)).map(({ id }) => id);
  const [e1, e2] = [first.event.id, second.event.id];
  const [d1, d2] = [first.deliveries[0].id, second.deliveries[0].id];
  const events = "/v1/webhooks/events";
  const deliveries = "/v1/webhooks/deliveries";
  const between = { created_from: start.toISOString(), created_to: start.toISOString() };
  assert.deepEqual(await ids(events, {}), [e2, e1]);
  assert.deepEqual(await ids(events, { type: "webhook.endpoint.test" }), [e2, e1]);
  assert.deepEqual(await ids(events, { type: "verification.session.failed" }), []);
  assert.deepEqual(await ids(events, { session_id: `vs_${"0".repeat(64)}` }), []);
  assert.deepEqual(await ids(events, between), [e1]);
  assert.deepEqual(await ids(events, { starting_after: e2 }), [e1]);
  assert.deepEqual(await ids(deliveries, {}), [d2, d1]);
  assert.deepEqual(await ids(deliveries, { status: "failed", endpoint_id: endpoint.id }), [d2, d1]);
  for (const status of ["pending", "delivering", "succeeded"])
    assert.deepEqual(await ids(deliveries, { status }), []);
  assert.deepEqual(await ids(deliveries, { event_id: e1 }), [d1]);
  assert.deepEqual(await ids(deliveries, between), [d1]);
  assert.deepEqual(await ids(deliveries, { created_from: clock.now().toISOString() }), [d2]);
  assert.deepEqual(await ids(deliveries, { starting_after: d2 }), [d1]);
  expectError(await partner.api.get(events, { type: "nothing" }), 400, "BAD_REQUEST", /`type`/);
  expectError(
    await partner.api.get(events, { created_from: "2026-02-31T00:00:00Z" }),
    400,
    "BAD_REQUEST",
    /`created_from`/,
  );
  expectError(await partner.api.get(deliveries, { status: "lost" }), 400, "BAD_REQUEST", /`status`/);
  assert.deepEqual(expectData(await partner.api.get(`${events}/${e1}`)), first.event);
  assert.deepEqual(expectData(await partner.api.get(`${deliveries}/${d1}`)), {
    ...first.deliveries[0],
    attempts: [],
    sealed_body: null,
  });
  expectError(await partner.api.post(`${events}/${e1}/replay`), 409, "WEBHOOK_PAYLOAD_EXPIRED");
});

test("a test event that finds no key mails the owners once a day, and one that is sealed never", async () => {
  const partner = await createPartner(api);
  const [{ endpoint: bare }, { endpoint: keyed }] = [
    await createEndpoint(partner, { name: "Bare" }),
    await createEndpoint(partner),
  ];
  expectData(await partner.api.post(`/v1/webhooks/endpoints/${keyed.id}/keys`, registration("k")), 201);
  const before = (await readMails(service, partner.owner.email)).length;
  const mailed = async () => (await readMails(service, partner.owner.email)).slice(before);
  const send = async (id: string) =>
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202);
  await send(keyed.id);
  assert.deepEqual(await mailed(), []);
  for (let time = 0; time < 2; time++) await send(bare.id);
  const [mail, ...more] = await mailed();
  assert.equal(more.length, 0);
  assert.match(mail?.text ?? "", /"Bare", receiver\.test \(sandbox\)/);
  assert.ok(!mail?.text.includes("partner-secret"), "a path may hold a secret");
  clock.advance(24 * 60 * 60_000);
  await send(bare.id);
  assert.equal((await mailed()).length, 2);
});

test("the same Idempotency-Key creates one endpoint and shows the same secret", async () => {
  const partner = await createPartner(api);
  const headers = { "idempotency-key": "once" };
  const [one, two] = await Promise.all([
    partner.api.post("/v1/webhooks/endpoints", { url }, headers),
    partner.api.post("/v1/webhooks/endpoints", { url }, headers),
  ]);
  assert.deepEqual(expectData(one, 201), expectData(two, 201));
  assert.equal(expectData<any[]>(await partner.api.get("/v1/webhooks/endpoints")).length, 1);
});

test("owners get a mail for every endpoint, URL and key that is added in live, and for none of the sandbox", async () => {
  const live = await createLivePartner(core, api);
  const subjects = async () =>
    (await readMails(service, live.owner.email))
      .map(({ subject }) => subject)
      .filter((s) => !/Verify/.test(s));
  const before = await subjects();
  const said = async () => (await subjects()).slice(before.length);

  const { endpoint } = await createEndpoint(live, { name: "Backend" });
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  const mail = (await readMails(service, live.owner.email)).at(-1);
  assert.match(mail?.text ?? "", /"Backend", receiver\.test \(live\)/);
  assert.match(mail?.text ?? "", /Added by: "[^"]+" \(API\)/);
  assert.ok(!mail?.text.includes("partner-secret"), "a path may hold a secret");

  expectData(await live.api.patch(path, { name: "Renamed", url }));
  assert.equal((await said()).length, 1, "the same URL is no other address");
  expectData(await live.api.patch(path, { url: "https://receiver.test/elsewhere" }));
  const key = expectData(await live.api.post(`${path}/keys`, registration("key-1")), 201);
  expectData(await live.api.post(`/v1/webhooks/keys/${key.id}/deactivate`));
  expectData(await live.api.post(`/v1/webhooks/keys/${key.id}/reactivate`));
  const asOwner = { "X-Service-Environment": "live" };
  expectData(
    await live.owner.api.call("POST", `${path}/keys`, { body: registration("key-2"), headers: asOwner }),
    201,
  );
  assert.deepEqual(await said(), [
    "A webhook endpoint was added",
    "The address of a webhook endpoint was changed",
    "An encryption key was added",
    "An encryption key was added",
    "An encryption key was added",
  ]);
  const last = (await readMails(service, live.owner.email)).at(-1);
  assert.match(last?.text ?? "", /Key: "key-2"/);
  assert.ok(last?.text.includes(`(${live.owner.email})`), "it names the member");

  const sandbox = await createPartner(api);
  const quiet = (await readMails(service, sandbox.owner.email)).length;
  const { endpoint: tested } = await createEndpoint(sandbox);
  expectData(await sandbox.api.post(`/v1/webhooks/endpoints/${tested.id}/keys`, registration("key-1")), 201);
  assert.equal((await readMails(service, sandbox.owner.email)).length, quiet);
});

// Last in the file: afterwards the running service's ring lacks the key.
test("signing secrets survive a rotation of the key ring", async () => {
  const partner = await createPartner(api);
  const { endpoint, signing_secret: secret } = await createEndpoint(partner);
  const old = parseRing(core.config.secretKeys);
  const fresh = newRingKey(old);
  await resealAll(core.db, new KeyRing([fresh, ...old]), core.clock.now());
  const { signingSecret: sealed } = await core.db.one<{ signingSecret: Buffer }>(
    sql`select signing_secret from webhook_endpoints where id = ${endpoint.id}`,
  );
  assert.equal(new KeyRing([fresh]).openText("webhook-secret", sealed, endpoint.id), secret);
});
