import assert from "node:assert/strict";
import { connect } from "node:net";
import test, { type TestContext } from "node:test";
import type { DeliveryId, EndpointId, EventId } from "@assay/contract/ids";
import type { StreamRight } from "@assay/contract/route";
import { type ListenerMessage, listenerAbsenceMinutes } from "@assay/contract/webhook-listeners";
import type { Static } from "typebox";
import { answerChannel, listenerChannel } from "../../../src/delivery/webhooks/listener.store.ts";
import { ListenerHub } from "../../../src/delivery/webhooks/listener-hub.ts";
import type { Listener } from "../../../src/platform/db/listener.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import type { OrganizationCaller } from "../../../src/platform/kernel/caller.ts";
import { minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { knownId } from "../../../src/platform/kernel/ids.ts";
import { rightsChannel } from "../../../src/tenants/organizations/rights.store.ts";
import { Api, createKey, createPartner, expectData, expectError, signUp } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { untilBlocked } from "../../support/database.ts";
import { openListenerStream, registerListener } from "../../support/listener-stream.ts";
import { readMails } from "../../support/mails.ts";
import { createReceivingEndpoint, decrypt, registration, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

/** Two processes; the second does no background work. Leases of both end after half a minute. */
const authority = createAuthority();
const env = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const webhooks = { ca: authority.certificate, pollMs: 50, attemptTimeoutMs: 60_000 };
const first = await startTestService({ env, webhooks });
const { api, clock, core, databaseUrl, runJob } = first;
const second = await startTestService({ env, webhooks, databaseUrl, clock, role: "api" });
const { db } = core;

async function setUp() {
  const partner = await createPartner(api);
  const listener = await registerListener(partner.api);
  const attach = async (url = first.url) => {
    const stream = await openListenerStream(url, partner.key.secret, listener.id);
    const ready = await stream.next("ready");
    return { stream, ready };
  };
  const sendTest = async () => {
    const sent = expectData(await partner.api.post(`/v1/webhooks/endpoints/${listener.id}/test`), 202);
    return { deliveryId: sent.deliveries[0].id as string, eventId: sent.event.id as string };
  };
  const answer = (deliveryId: string, body: Record<string, unknown>, as = partner.api) =>
    as.post(`/v1/webhooks/listeners/${listener.id}/deliveries/${deliveryId}/answer`, body);
  const deliveryOf = async (id: string) => expectData(await partner.api.get(`/v1/webhooks/deliveries/${id}`));
  return { partner, listener, attach, sendTest, answer, deliveryOf };
}

/** The timeout of answers in this test. */
function limitAnswers(t: TestContext, ms: number): void {
  const usual = webhooks.attemptTimeoutMs;
  webhooks.attemptTimeoutMs = ms;
  t.after(() => {
    webhooks.attemptTimeoutMs = usual;
  });
}

test("a listener gets through its stream the same request as a URL, and its answer ends the delivery", async () => {
  const { partner, listener, attach, answer, deliveryOf } = await setUp();
  const receiver = await startReceiver(authority);
  await createReceivingEndpoint(partner.api, receiver.url);
  const { stream, ready } = await attach();
  assert.deepEqual(ready, {
    type: "ready",
    endpoint_id: listener.id,
    environment: "sandbox",
    waiting: 0,
    delivery: null,
    reason: null,
  });
  const session = expectData(await partner.api.post("/v1/sessions", { client_reference_id: "order-7" }), 201);
  assert.equal((await partner.api.post(`/v1/sessions/${session.id}/cancel`)).status, 204);
  const delivery = await stream.nextDelivery();
  await receiver.until(1);
  const atUrl = receiver.received[0];
  assert.ok(atUrl);
  const { host: _host, connection: _connection, "content-length": _length, ...sent } = atUrl.headers;
  assert.deepEqual(Object.keys(delivery.headers).sort(), Object.keys(sent).sort());
  for (const name of ["content-type", "user-agent", "x-service-event", "webhook-id", "webhook-timestamp"])
    assert.equal(delivery.headers[name], sent[name], name);
  assert.equal(delivery.headers["x-service-delivery-id"], delivery.delivery_id);
  assert.deepEqual((await decrypt(delivery.body)).event, (await decrypt(atUrl.body)).event);

  const answered = expectData(
    await answer(delivery.delivery_id, { lease: delivery.lease, status_code: 204 }),
  );
  assert.equal(answered.status, "succeeded");
  const seen = await deliveryOf(delivery.delivery_id);
  assert.deepEqual(
    [seen.status, seen.attempt_count, seen.last_status_code, seen.attempts.length],
    ["succeeded", 1, 204, 1],
  );
  assert.ok(seen.payload_scrubbed_at, "what has arrived is scrubbed, as for a URL");
  stream.close();
});

test("a listener is an endpoint in lists and in the audit log, and cannot be given a URL", async () => {
  const { partner, listener } = await setUp();
  const [listed] = expectData(await partner.api.get("/v1/webhooks/endpoints"));
  assert.deepEqual(
    [listed.id, listed.kind, listed.url, listed.has_active_key, listed.last_seen_at],
    [listener.id, "listener", `listener:${listener.id}`, true, clock.now().toISOString()],
  );
  assert.deepEqual(listener.created.endpoint, listed);
  const [, created] = expectData(await partner.owner.api.get("/v1/auth/orgs/audit-logs"));
  assert.deepEqual(
    [created.event, created.target_id, created.details],
    ["webhook_endpoint.created", listener.id, { name: null, kind: "listener" }],
  );
  expectError(
    await partner.api.patch(`/v1/webhooks/endpoints/${listener.id}`, { url: "https://127.0.0.1:9/hook" }),
    400,
    "WEBHOOK_URL_REJECTED",
    /listener/,
  );
});

test("a failing receiver behind a listener is tried again on the ordinary schedule", async () => {
  const { attach, sendTest, answer, deliveryOf } = await setUp();
  const { stream } = await attach();
  const { deliveryId } = await sendTest();
  const one = await stream.nextDelivery();
  assert.equal(one.attempt, 1);
  const failed = expectData(await answer(deliveryId, { lease: one.lease, status_code: 500 }));
  assert.equal(failed.status, "pending");
  const waitMs = Date.parse(failed.next_attempt_at) - clock.now().getTime();
  assert.ok(waitMs >= 5000 && waitMs <= 5500, `${waitMs} ms`);
  clock.advance(6 * secondMs);
  const two = await stream.nextDelivery();
  assert.deepEqual([two.delivery_id, two.attempt], [deliveryId, 2]);
  const refused = { lease: two.lease, error: "connection_failed" };
  expectData(await answer(deliveryId, refused));
  clock.advance(6 * minuteMs);
  const three = await stream.nextDelivery();
  expectData(await answer(deliveryId, { lease: three.lease, status_code: 200 }));
  const { status, attempts } = await deliveryOf(deliveryId);
  assert.equal(status, "succeeded");
  assert.deepEqual(
    attempts.map((attempt: { status_code: number | null; error: string | null }) => [
      attempt.status_code,
      attempt.error,
    ]),
    [
      [200, null],
      [null, "connection_failed"],
      [500, "status_not_2xx"],
    ],
  );
  stream.close();
});

test("an answer counts once, for the listener and the lease it was given to, and only with a status or an error", async () => {
  const { partner, attach, sendTest, answer } = await setUp();
  const { stream } = await attach();
  const { deliveryId } = await sendTest();
  const { lease } = await stream.nextDelivery();
  expectError(await answer(deliveryId, { lease: lease + 1, status_code: 200 }), 409, "DELIVERY_NOT_WAITING");
  const other = await registerListener(partner.api);
  expectError(
    await partner.api.post(`/v1/webhooks/listeners/${other.id}/deliveries/${deliveryId}/answer`, {
      lease,
      status_code: 200,
    }),
    404,
    "NOT_FOUND",
  );
  expectError(await answer(deliveryId, { lease }), 400, "BAD_REQUEST", /not both/);
  expectError(
    await answer(deliveryId, { lease, status_code: 200, error: "timeout" }),
    400,
    "BAD_REQUEST",
    /not both/,
  );
  expectData(await answer(deliveryId, { lease, status_code: 200 }));
  expectError(
    await answer(deliveryId, { lease, status_code: 500 }),
    409,
    "DELIVERY_NOT_WAITING",
    /no longer waits/,
  );
  stream.close();
});

test("a listener that takes a delivery and says nothing has timed out", async (t) => {
  limitAnswers(t, 300);
  const { attach, sendTest, answer, deliveryOf } = await setUp();
  const { stream } = await attach();
  const { deliveryId } = await sendTest();
  const { lease } = await stream.nextDelivery();
  // A late notification about an earlier lease does not end the wait for this one.
  await db.notifyNow(answerChannel, `${deliveryId} ${lease - 1} succeeded`);
  await until("the answer is late", async () => (await deliveryOf(deliveryId)).last_error === "timeout");
  assert.equal((await deliveryOf(deliveryId)).status, "pending");
  expectError(await answer(deliveryId, { lease, status_code: 200 }), 409, "DELIVERY_NOT_WAITING");
  stream.close();
});

test("while a listener is away its deliveries wait without using up a try, and it gets them when it is back", async () => {
  const { attach, sendTest, answer, deliveryOf } = await setUp();
  const sent = [await sendTest(), await sendTest(), await sendTest()];
  await runJob("deliver-webhooks");
  clock.advance(50 * minuteMs);
  await runJob("deliver-webhooks");
  for (const { deliveryId } of sent) assert.equal((await deliveryOf(deliveryId)).attempt_count, 0);
  const { stream, ready } = await attach();
  assert.equal(ready.waiting, 3);
  const got: string[] = [];
  for (let at = 0; at < 3; at++) {
    const delivery = await stream.nextDelivery();
    got.push(delivery.delivery_id);
    expectData(await answer(delivery.delivery_id, { lease: delivery.lease, status_code: 200 }));
  }
  assert.deepEqual(got.sort(), sent.map(({ deliveryId }) => deliveryId).sort());
  stream.close();
});

test("a delivery whose stream breaks before the answer comes again through the next one, and has used no try", async () => {
  const { attach, sendTest, answer, deliveryOf } = await setUp();
  const { stream: broken } = await attach();
  const { deliveryId } = await sendTest();
  const lost = await broken.nextDelivery();
  broken.close();
  const { stream } = await attach();
  const again = await stream.nextDelivery();
  assert.deepEqual([again.delivery_id, again.attempt], [deliveryId, 1]);
  assert.notEqual(again.lease, lost.lease);
  expectError(await answer(deliveryId, { lease: lost.lease, status_code: 200 }), 409, "DELIVERY_NOT_WAITING");
  expectData(await answer(deliveryId, { lease: again.lease, status_code: 200 }));
  assert.equal((await deliveryOf(deliveryId)).attempt_count, 1);
  stream.close();
});

test("stream, event and answer may each be at another process", async (t) => {
  limitAnswers(t, 10 * minuteMs);
  const { partner, attach, sendTest, answer, deliveryOf } = await setUp();
  const { stream } = await attach(second.url);
  // The process with the stream was notified: otherwise this one would wait for the other's timeout.
  const { deliveryId } = await sendTest();
  const { lease } = await stream.nextDelivery();
  expectData(await answer(deliveryId, { lease, status_code: 200 }, api.as(partner.key.secret)));
  assert.equal((await deliveryOf(deliveryId)).status, "succeeded");
  // The process with the stream was notified: otherwise this delivery would wait for the timeout of the other
  // one.
  const { deliveryId: next } = await sendTest();
  const delivery = await stream.nextDelivery();
  assert.equal(delivery.delivery_id, next);
  expectData(await answer(next, { lease: delivery.lease, status_code: 200 }));
  stream.close();
});

test("a newer stream takes the place of the one before, at whichever process, and what that one held comes again", async () => {
  const { attach, sendTest, answer } = await setUp();
  const { stream: old } = await attach(first.url);
  const { deliveryId } = await sendTest();
  await old.nextDelivery();
  const { stream: newer } = await attach(second.url);
  assert.equal((await old.next("ended")).reason, "taken_over");
  await old.closed;
  const delivery = await newer.nextDelivery();
  assert.equal(delivery.delivery_id, deliveryId);
  expectData(await answer(deliveryId, { lease: delivery.lease, status_code: 200 }));
  const { stream: newest } = await attach(second.url);
  assert.equal((await newer.next("ended")).reason, "taken_over");
  newest.close();
});

test("a HEAD request for the stream does not take over the listener", async () => {
  const { partner, listener, attach, sendTest, answer } = await setUp();
  const { stream } = await attach();
  const head = await api.as(partner.key.secret).call("HEAD", `/v1/webhooks/listeners/${listener.id}/stream`);
  assert.equal(head.status, 200);
  assert.match(head.headers.get("content-type") ?? "", /^text\/event-stream/);
  const { deliveryId } = await sendTest();
  const { lease } = await stream.nextDelivery();
  expectData(await answer(deliveryId, { lease, status_code: 200 }));
  stream.close();
});

test("deleting a listener closes its stream, wherever it is, and ends what waits", async () => {
  const { partner, listener, attach, sendTest, deliveryOf } = await setUp();
  const { stream } = await attach(second.url);
  const { deliveryId } = await sendTest();
  await stream.nextDelivery();
  assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${listener.id}`)).status, 204);
  assert.equal((await stream.next("ended")).reason, "removed");
  await stream.closed;
  const { status, last_error: error } = await deliveryOf(deliveryId);
  assert.deepEqual([status, error], ["failed", "endpoint_deleted"]);
  await assert.rejects(attach(), /no stream: 404/);
});

test("a listener that is away for too long is removed and audited; one with an open stream, and a URL, never are", async () => {
  const { partner, listener, sendTest, deliveryOf } = await setUp();
  const { deliveryId } = await sendTest();
  const url = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  clock.advance(listenerAbsenceMinutes * minuteMs);
  await runJob("remove-absent-listeners");
  assert.equal((await partner.api.get(`/v1/webhooks/endpoints/${listener.id}`)).status, 200, "not yet");
  const other = await registerListener(partner.api);
  clock.advance(1);
  await runJob("remove-absent-listeners");
  await runJob("remove-absent-listeners");
  const left = expectData(await partner.api.get("/v1/webhooks/endpoints"));
  assert.deepEqual(left.map(({ id }: { id: string }) => id).sort(), [other.id, url.id].sort());
  assert.equal((await deliveryOf(deliveryId)).last_error, "endpoint_deleted");
  const audit = expectData(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "webhook_endpoint.deleted" }),
  );
  assert.deepEqual(
    audit.map(({ actor_type: actor, target_id: target, details }: any) => [actor, target, details.reason]),
    [["system", listener.id, "listener_absent"]],
  );
});

test("only a key of the organization with webhooks:write may listen or answer", async () => {
  const { partner, listener, attach, sendTest, answer } = await setUp();
  const reader = await createKey(partner.owner, ["webhooks:read", "sessions:write"]);
  expectError(
    await reader.api.post("/v1/webhooks/listeners", { encryption_key: registration("k") }),
    403,
    "FORBIDDEN",
    /webhooks:write/,
  );
  expectError(await reader.api.get(`/v1/webhooks/listeners/${listener.id}/stream`), 403, "FORBIDDEN");
  const stranger = await createPartner(api);
  expectError(await stranger.api.get(`/v1/webhooks/listeners/${listener.id}/stream`), 404, "NOT_FOUND");
  const { stream } = await attach();
  const { deliveryId } = await sendTest();
  const { lease } = await stream.nextDelivery();
  expectError(await answer(deliveryId, { lease, status_code: 200 }, stranger.api), 404, "NOT_FOUND");
  expectError(await answer(deliveryId, { lease, status_code: 200 }, reader.api), 403, "FORBIDDEN");
  expectData(await answer(deliveryId, { lease, status_code: 200 }));
  stream.close();
  // An endpoint with a URL has no stream.
  const url = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  expectError(await partner.api.get(`/v1/webhooks/listeners/${url.id}/stream`), 404, "NOT_FOUND");
});

test("one key has ten streams at a process, and listeners count as endpoints", async () => {
  const { partner } = await setUp();
  // At another machine there would be room, and a stream has no end to wait for.
  const [{ url: one }] = first.machines;
  const listeners = [];
  for (let at = 0; at < 11; at++) listeners.push(await registerListener(partner.api));
  const streams = [];
  for (const { id } of listeners.slice(0, 10))
    streams.push(await openListenerStream(one, partner.key.secret, id));
  const last = listeners.at(-1)?.id ?? "";
  const refused = await new Api(one).as(partner.key.secret).get(`/v1/webhooks/listeners/${last}/stream`);
  expectError(refused, 409, "LISTENER_LIMIT_REACHED", /10 streams/);
  streams[0]?.close();
  await until("there is room again", async () => {
    const stream = await openListenerStream(one, partner.key.secret, last).catch(() => null);
    if (stream !== null) streams.push(stream);
    return stream !== null;
  });
  for (const stream of streams) stream.close();
});

test("a bad key, and a receiver that answers 410, are reported as for a URL; owners get no mail about a listener", async () => {
  const { partner, listener, attach, sendTest, answer } = await setUp();
  const bad = registration("k");
  expectError(
    await partner.api.post("/v1/webhooks/listeners", {
      encryption_key: { ...bad, jwk: { ...bad.jwk, n: "AQAB" } },
    }),
    400,
    "BAD_REQUEST",
    /encryption_key\.jwk\.n/,
  );
  const { stream } = await attach();
  const { deliveryId } = await sendTest();
  const { lease } = await stream.nextDelivery();
  const mails = async () => (await db.one<{ count: number }>(sql`select count(*) from mails`)).count;
  const before = await mails();
  expectData(await answer(deliveryId, { lease, status_code: 410 }));
  const { enabled, disabled_reason: reason } = expectData(
    await partner.api.get(`/v1/webhooks/endpoints/${listener.id}`),
  );
  assert.deepEqual([enabled, reason], [false, "endpoint_gone"]);
  assert.equal(await mails(), before);
  stream.close();
});

test("a reader that does not read holds a bounded amount of memory, and what it did not take is not lost", async (t) => {
  limitAnswers(t, 300);
  const { partner, listener, attach, answer } = await setUp();
  // Past the load balancer, which would read the stream for it.
  const socket = connect(Number(new URL(first.machines[0].url).port), "127.0.0.1");
  socket.pause();
  socket.write(
    `GET /v1/webhooks/listeners/${listener.id}/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${partner.key.secret}\r\n\r\n`,
  );
  await until("the listener is attached", async () => {
    const row = await db.first(
      sql`select 1 from webhook_endpoints where id = ${listener.id} and listener_stream_id is not null`,
    );
    return row !== null;
  });
  const sent = new Set<string>();
  for (let at = 0; at < 10; at++) {
    const session = expectData(await partner.api.post("/v1/sessions"), 201);
    assert.equal((await partner.api.post(`/v1/sessions/${session.id}/cancel`)).status, 204);
    sent.add(session.id);
  }
  // It times out like a hanging receiver: at most eight wait for their answers at once.
  await until("all were tried", async () => {
    const { leased } = await db.one<{ leased: number }>(sql`
      select count(*) as leased from webhook_delivery_queue
      where endpoint_id = ${listener.id} and lease_owner is not null`);
    assert.ok(leased <= 8, `${leased} at once`);
    const { tried } = await db.one<{ tried: number }>(sql`
      select count(*) as tried from webhook_deliveries where endpoint_id = ${listener.id} and last_error = 'timeout'`);
    return tried === sent.size;
  });
  socket.destroy();
  webhooks.attemptTimeoutMs = 60_000;
  clock.advance(6 * secondMs);
  const { stream } = await attach();
  const got = new Set<string>();
  while (got.size < sent.size) {
    const delivery = await stream.nextDelivery();
    got.add(delivery.delivery_id);
    await answer(delivery.delivery_id, { lease: delivery.lease, status_code: 200 });
  }
  stream.close();
});

test("one organization, and one person with many organizations, take their share of the streams and no more", async () => {
  // Smaller shares than a process really has.
  const small = await startTestService({
    env,
    webhooks: { ...webhooks, maxStreamsPerOrganization: 2, maxStreamsPerCreator: 3 },
  });
  const [{ url: at }] = small.machines;
  const streams: Awaited<ReturnType<typeof openListenerStream>>[] = [];
  const attempt = async (partner: { api: Api; key: { secret: string } }) => {
    const { id } = await registerListener(partner.api);
    const answer = new Api(at).as(partner.key.secret).get(`/v1/webhooks/listeners/${id}/stream`);
    return { id, answer };
  };
  const open = async (partner: { api: Api; key: { secret: string } }) => {
    const { id } = await registerListener(partner.api);
    streams.push(await openListenerStream(at, partner.key.secret, id));
  };
  const one = await createPartner(small.api);
  for (let each = 0; each < 2; each++) await open(one);
  const another = await createKey(one.owner);
  expectError(
    await (await attempt({ api: another.api, key: another })).answer,
    409,
    "LISTENER_LIMIT_REACHED",
    /streams of this organization/,
  );
  // Another organization of the same creator has one slot left of their limit, not two.
  expectData(await one.owner.api.post("/v1/auth/orgs", { name: "Second", slug: "second-of-streams" }), 201);
  const key = await createKey(one.owner);
  await open({ api: key.api, key });
  expectError(
    await (await attempt({ api: key.api, key })).answer,
    409,
    "LISTENER_LIMIT_REACHED",
    /streams of the organizations that the same account created/,
  );
  // Another organization is not delayed, and a closed stream frees its slot.
  await open(await createPartner(small.api));
  streams[0]?.close();
  await until("the stream is free again", async () =>
    open({ api: key.api, key }).then(
      () => true,
      () => false,
    ),
  );
  for (const stream of streams) stream.close();
});

/** How the caller of a stream loses the right to it, each by an ordinary call of an owner. */
const losses: Record<
  string,
  (at: { owner: { api: Api }; keyId: string; memberId: string }) => Promise<unknown>
> = {
  "the key is disabled": ({ owner, keyId }) =>
    owner.api.patch(`/v1/auth/api-keys/${keyId}`, { enabled: false }),
  "the key is deleted": ({ owner, keyId }) => owner.api.delete(`/v1/auth/api-keys/${keyId}`),
  "the key loses the scope": ({ owner, keyId }) =>
    owner.api.patch(`/v1/auth/api-keys/${keyId}`, { scopes: ["webhooks:read"] }),
  "the member who made the key is removed with their keys": ({ owner, memberId }) =>
    owner.api.delete(`/v1/auth/orgs/members/${memberId}?disable_keys=true`),
  "the member who opened it is removed": ({ owner, memberId }) =>
    owner.api.delete(`/v1/auth/orgs/members/${memberId}`),
};

for (const [what, lose] of Object.entries(losses))
  test(`a stream ends at once, at whichever process, when ${what}`, async () => {
    const partner = await createPartner(api);
    const person = await signUp(api);
    const invitation = { email: person.email, role: "admin" };
    expectData(await partner.owner.api.post("/v1/auth/orgs/invitations", invitation), 201);
    const mail = (await readMails(first, person.email)).at(-1);
    const token = /\/invitations\/([A-Za-z0-9]{43})\s/.exec(mail?.text ?? "")?.[1];
    expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
    const members = expectData<{ id: string; user_id: string }[]>(
      await partner.owner.api.get("/v1/auth/orgs/members"),
    );
    const memberId = members.find(({ user_id }) => user_id === person.userId)?.id ?? "";
    const key = await createKey(person);
    const listener = await registerListener(partner.api);
    const credential = what.includes("opened") ? person.token : key.secret;
    const stream = await openListenerStream(second.url, credential, listener.id);
    await stream.next("ready");
    await lose({ owner: partner.owner, keyId: key.id, memberId });
    await stream.closed;
    assert.equal(stream.unread, 0, "nothing came before the end");
    assert.equal(stream.heartbeats, 0, "it did not wait for the next sign of life");
  });

test("where the notification is lost, a delivery is not handed to a caller who has lost the right", async () => {
  const { partner, listener, attach } = await setUp();
  const { stream } = await attach();
  await db.run(sql`update api_keys set enabled = false where id = ${partner.key.id}`);
  const key = await createKey(partner.owner);
  expectData(await key.api.post(`/v1/webhooks/endpoints/${listener.id}/test`), 202);
  await stream.closed;
  assert.equal(stream.unread, 0);
  const next = await openListenerStream(first.url, key.secret, listener.id);
  await next.next("ready");
  assert.equal((await next.nextDelivery()).attempt, 1, "no try was used up");
  next.close();
});

type Message = Static<typeof ListenerMessage>;

/** The streams of one process, without HTTP: the test sees what each stream is sent, and its notifications. */
async function openHub(t: TestContext) {
  const partner = await createPartner(api);
  const { id } = await registerListener(partner.api);
  const endpointId = knownId<EndpointId>(id);
  const served: string[] = [];
  /** Notifications reach a hub only through `notify`. */
  const startHub = () => {
    const handlers = new Map<string, (payload: string) => void>();
    const listener = {
      on: (channel: string, handler: (payload: string) => void) => {
        handlers.set(channel, handler);
        return () => {};
      },
    } as unknown as Listener;
    const hub = new ListenerHub(core);
    hub.listen(listener, (each) => served.push(each));
    t.after(() => hub.stop());
    return { hub, notify: (channel: string, payload: string) => handlers.get(channel)?.(payload) };
  };
  const { hub, notify } = startHub();
  const caller: OrganizationCaller = {
    kind: "key",
    keyId: knownId(partner.key.id),
    organizationId: partner.organizationId,
    scopes: ["webhooks:write"],
    environment: "sandbox",
    frozen: false,
    agentsMayChangeWebhooks: false,
  };
  const open = async (at = hub) => {
    const feed = await at.open(caller, endpointId);
    const stream = { messages: [] as Message[], isClosed: false, right: "allowed" as StreamRight, asked: 0 };
    const attach = () =>
      feed({
        send: (_event, message) => stream.messages.push(message),
        close: () => {
          stream.isClosed = true;
        },
        recheck: async () => {
          stream.asked += 1;
          return stream.right;
        },
      });
    return { stream, attach };
  };
  const openReady = async (at = hub) => {
    const { stream, attach } = await open(at);
    const leave = attach();
    await until("the stream is ready", () => stream.messages.length > 0);
    return { stream, leave };
  };
  const delivery = {
    id: knownId<DeliveryId>("whd_1"),
    organizationId: partner.organizationId,
    sandbox: true,
    eventId: knownId<EventId>("evt_1"),
    eventType: "webhook.endpoint.test" as const,
    endpointId,
    payload: "sealed",
    triesUsed: 0,
    leaseNumber: 1,
    kind: "listener" as const,
    url: "",
    signingSecret: Buffer.alloc(0),
    previousSigningSecret: null,
    failingSince: null,
    retentionHours: 72,
  };
  const send = () => hub.send(delivery, ["whsec_AAAA"], clock.now());
  /** What the streams do while another transaction holds the row of the listener. */
  const whileLocked = (work: (leave: () => void) => void) =>
    db.transaction(async (tx) => {
      await tx.rows(sql`select from webhook_endpoints where id = ${id} for update`);
      const { stream, attach } = await open();
      const leave = attach();
      await untilBlocked(tx);
      work(leave);
      return stream;
    });
  return { hub, notify, startHub, served, partner, endpointId, open, openReady, send, whileLocked };
}

const said = ({ messages }: { messages: readonly Message[] }) =>
  messages.map(({ type, reason }) => (reason === null ? type : `${type}: ${reason}`));

test("a process that stops closes its streams, gives their deliveries back, and asks new ones to come again", async (t) => {
  const { hub, open, openReady, send } = await openHub(t);
  const { stream } = await openReady();
  const sending = send();
  await until("it is handed out", () => stream.messages.length === 2);
  hub.stop();
  assert.deepEqual(said(stream), ["ready", "delivery", "ended: closing"]);
  assert.equal(stream.isClosed, true);
  assert.deepEqual(await sending, { kind: "put_back" });
  await assert.rejects(open(), { code: "SERVICE_UNAVAILABLE", headers: { "retry-after": "2" } });
});

test("a stream that opens while the process stops is closed as well", async (t) => {
  const { hub, whileLocked } = await openHub(t);
  const stream = await whileLocked(() => hub.stop());
  await until("it is closed", () => stream.isClosed);
  assert.equal(said(stream).at(-1), "ended: closing");
  assert.deepEqual(hub.outlet().streamIds, []);
});

test("a stream that closes while it opens serves nothing, and takes the listener from no other", async (t) => {
  const { hub, served, endpointId, openReady, whileLocked } = await openHub(t);
  const { stream: current } = await openReady();
  const stream = await whileLocked((leave) => leave());
  // Waits for the transaction of the stream that left.
  await db.transaction((tx) =>
    tx.rows(sql`select from webhook_endpoints where id = ${endpointId} for update`),
  );
  const [row] = await db.rows<{ streamId: string }>(sql`
    select listener_stream_id as "streamId" from webhook_endpoints where id = ${endpointId}`);
  assert.deepEqual([row?.streamId], hub.outlet().streamIds);
  assert.deepEqual([said(stream), said(current), served], [[], ["ready"], [endpointId]]);
});

test("a stream of a listener that was removed meanwhile ends without having been ready", async (t) => {
  const { hub, served, partner, endpointId, open } = await openHub(t);
  const { stream, attach } = await open();
  assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${endpointId}`)).status, 204);
  attach();
  await until("it is closed", () => stream.isClosed);
  assert.deepEqual(said(stream), ["ended: removed"]);
  assert.deepEqual([served, hub.outlet().streamIds], [[], []]);
});

test("a process serves a listener from its stream's beginning to its end, and a former stream ends nothing", async (t) => {
  const { hub, served, endpointId, openReady, send } = await openHub(t);
  assert.deepEqual(await send(), { kind: "put_back" });
  const former = await openReady();
  assert.deepEqual([hub.serves(endpointId), served], [true, [endpointId]]);
  const [formerId] = hub.outlet().streamIds;
  const { leave } = await openReady();
  assert.deepEqual(said(former.stream), ["ready", "ended: taken_over"]);
  former.leave();
  assert.equal(hub.serves(endpointId), true);
  assert.notDeepEqual(hub.outlet().streamIds, [formerId]);
  leave();
  assert.equal(hub.serves(endpointId), false);
  assert.deepEqual(hub.outlet().streamIds, []);
});

test("every half minute a process marks its streams as open and ends those that another one has replaced", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { startHub, endpointId, openReady } = await openHub(t);
  const { stream } = await openReady();
  const seenAt = async () =>
    (
      await db.one<{ at: Date }>(
        sql`select listener_seen_at as at from webhook_endpoints where id = ${endpointId}`,
      )
    ).at;
  const before = await seenAt();
  clock.advance(30 * secondMs);
  t.mock.timers.tick(30 * secondMs - 1);
  assert.deepEqual(await seenAt(), before);
  t.mock.timers.tick(1);
  await until("it is marked as open", async () => (await seenAt()).getTime() === clock.now().getTime());
  assert.deepEqual(said(stream), ["ready"]);
  // The notification of the other process is lost.
  await openReady(startHub().hub);
  t.mock.timers.tick(30 * secondMs);
  await until("it is closed", () => stream.isClosed);
  assert.deepEqual(said(stream), ["ready", "ended: taken_over"]);
});

test("a notification checks the stream that it names, and an empty one, after some were lost, every stream", async (t) => {
  for (const payloadOf of [(id: string) => id, () => ""]) {
    const { notify, startHub, endpointId, openReady } = await openHub(t);
    const { stream } = await openReady();
    await openReady(startHub().hub);
    notify(listenerChannel, "whe_other");
    assert.equal(stream.isClosed, false);
    notify(listenerChannel, payloadOf(endpointId));
    await until("it is closed", () => stream.isClosed);
    assert.equal(said(stream).at(-1), "ended: taken_over");
  }
});

test("a change of an organization's rights asks for those of its streams, and an empty notification for all", async (t) => {
  const { notify, partner, openReady } = await openHub(t);
  const { stream } = await openReady();
  notify(rightsChannel, "another organization");
  assert.equal(stream.asked, 0);
  notify(rightsChannel, partner.organizationId);
  assert.equal(stream.asked, 1);
  notify(rightsChannel, "");
  assert.equal(stream.asked, 2);
});

test("a delivery is handed out only while the caller is known to have the right", async (t) => {
  const { openReady, send } = await openHub(t);
  const { stream } = await openReady();
  for (const right of ["refused", "unknown"] as const) {
    stream.right = right;
    assert.deepEqual(await send(), { kind: "put_back" });
  }
  assert.deepEqual(said(stream), ["ready"]);
  stream.right = "allowed";
  void send();
  await until("it is handed out", () => stream.messages.length > 1);
  assert.deepEqual(said(stream), ["ready", "delivery"]);
});

test("an attempt has lasted from its claim to the answer, and never less than no time", async () => {
  const { attach, sendTest, answer, deliveryOf } = await setUp();
  const { stream } = await attach();
  for (const [movedMs, durationMs] of [
    [1500, 1500],
    [-1500, 0],
  ] as const) {
    const { deliveryId } = await sendTest();
    const { lease } = await stream.nextDelivery();
    clock.advance(movedMs);
    expectData(await answer(deliveryId, { lease, status_code: 200 }));
    const [attempt] = (await deliveryOf(deliveryId)).attempts;
    assert.equal(attempt.duration_ms, durationMs);
  }
  stream.close();
});

test("an answer is counted in the metrics by its outcome", async () => {
  const { attach, sendTest, answer } = await setUp();
  const countOf = (outcome: string) =>
    Number(
      new RegExp(`^assay_webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)$`, "m").exec(
        first.machines.map((machine) => machine.core.metrics.render()).join("\n"),
      )?.[1] ?? 0,
    );
  const { stream } = await attach();
  for (const [outcome, body] of Object.entries({
    succeeded: { status_code: 200 },
    redirect_not_followed: { status_code: 302 },
    tls_failed: { error: "tls_failed" },
  })) {
    const before = countOf(outcome);
    const { deliveryId } = await sendTest();
    const { lease } = await stream.nextDelivery();
    expectData(await answer(deliveryId, { lease, ...body }));
    await until("it is counted", () => countOf(outcome) > before);
    assert.equal(countOf(outcome), before + 1);
  }
  assert.equal(countOf("null"), 0);
  stream.close();
});
