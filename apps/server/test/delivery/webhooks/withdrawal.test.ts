import assert from "node:assert/strict";
import test from "node:test";
import { type Api, createPartner, expectData } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { succeed } from "../../support/sessions.ts";
import { startVerification, takeSession } from "../../support/verify.ts";

/** One process answers the person, another one sends, on one database. */
const authority = createAuthority();
const env = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const webhooks = { ca: authority.certificate };
const { api, clock, core, databaseUrl } = await startTestService({ role: "api", env, webhooks });
const worker = await startTestService({ databaseUrl, clock, env, webhooks, role: "worker" });
const deliver = () => worker.runJob("deliver-webhooks");

const succeeded = "verification.session.succeeded";
const cancelled = "verification.session.cancelled";

type Listed = { id: string; type: string; retracted_at: string | null };

/** A session that has succeeded, with its event not delivered yet. */
async function passSession(partner: Api) {
  const { id, path } = await startVerification(partner);
  const { attemptId, cancelToken } = await takeSession(api, id);
  const withdraw = async () =>
    expectData(await api.post(`${path}/cancel`, { cancel_token: cancelToken })).outcome as string;
  const events = async () =>
    expectData<Listed[]>(await partner.get("/v1/webhooks/events", { session_id: id }));
  return { id, withdraw, events, pass: () => succeed(core, id, attemptId) };
}

const valid = (events: readonly Listed[]) =>
  events.filter((event) => event.retracted_at === null).map((event) => event.type);
const retracted = (events: readonly Listed[]) =>
  events.filter((event) => event.retracted_at !== null).map((event) => event.type);

test("withdrawn while a try is on the wire: the success is retracted, not tried again, and one cancellation follows", async () => {
  for (const status of [200, 500]) {
    const receiver = await startReceiver(authority);
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    receiver.answerWith(async () => {
      // Another worker may deliver the cancellation meanwhile.
      if (receiver.received.length > 1) return { status: 200 };
      arrived.resolve();
      await held.promise;
      return { status };
    });
    const partner = await createPartner(api);
    await createReceivingEndpoint(partner.api, receiver.url);
    const session = await passSession(partner.api);
    await session.pass();
    const sending = deliver();
    await arrived.promise;
    assert.equal(await session.withdraw(), "consent_withdrawn");
    const listed = await session.events();
    assert.deepEqual([valid(listed), retracted(listed)], [[cancelled], [succeeded]]);
    held.resolve();
    await sending;
    for (let i = 0; i < 3; i++) {
      await deliver();
      clock.advance(10 * 60_000);
    }
    const delivered = await Promise.all(
      receiver.received.map(async ({ body }) => (await decrypt(body)).event),
    );
    assert.deepEqual(
      delivered.map((event) => event.type),
      [succeeded, cancelled],
    );
    assert.equal(delivered[1].data.reason, "consent_withdrawn");
    const after = await session.events();
    assert.deepEqual([valid(after), retracted(after)], [[cancelled], [succeeded]]);
  }
});

test("withdrawn after the partner has received the success: it stands", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const session = await passSession(partner.api);
  await session.pass();
  await deliver();
  assert.equal(receiver.received.length, 1);
  assert.equal(await session.withdraw(), "withdrawn_after_delivery");
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).status, "succeeded");
  const events = await session.events();
  assert.deepEqual([valid(events), retracted(events)], [[succeeded], []]);
});

test("a withdrawal scrubs what waits of its session, and of no other", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  // The receiver is down, so that both successes wait.
  receiver.answerWith(() => ({ status: 503 }));
  await createReceivingEndpoint(partner.api, receiver.url);
  const [one, other] = [await passSession(partner.api), await passSession(partner.api)];
  for (const session of [one, other]) await session.pass();
  await deliver();
  assert.equal(await one.withdraw(), "consent_withdrawn");
  const taken: string[] = [];
  receiver.answerWith(({ body }) => {
    taken.push(body);
    return { status: 200 };
  });
  // What is claimed at the same moment may be sent once more, and what was tried twice waits for longer.
  for (let round = 0; round < 6; round++) {
    clock.advance(10 * 60_000);
    await deliver();
  }
  const delivered = taken.map(async (body) => {
    const { event } = await decrypt(body);
    return `${event.metadata.verification_session_id} ${event.type}`;
  });
  assert.deepEqual(
    [...new Set(await Promise.all(delivered))].sort(),
    [`${one.id} ${cancelled}`, `${other.id} ${succeeded}`].sort(),
  );
});

test("however deliveries and withdrawals meet, one event of each session stands, and none is sent after it was retracted", async () => {
  const receiver = await startReceiver(authority);
  const arrivals: { eventId: unknown; at: number }[] = [];
  receiver.answerWith(({ headers }) => {
    arrivals.push({ eventId: headers["webhook-id"], at: performance.now() });
    return { status: 200 };
  });
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const sessions = [];
  for (let i = 0; i < 20; i++) sessions.push(await passSession(partner.api));
  const outcomes = await Promise.all(
    sessions.map(async (session, i) => {
      await session.pass();
      if (i % 3 > 0) await new Promise((resolve) => setTimeout(resolve, (i % 8) * 4));
      const outcome = await session.withdraw();
      return { session, outcome, at: performance.now() };
    }),
  );
  await deliver();
  for (const { session, outcome, at } of outcomes) {
    const events = await session.events();
    if (outcome === "withdrawn_after_delivery") {
      assert.deepEqual([valid(events), retracted(events)], [[succeeded], []]);
      continue;
    }
    assert.equal(outcome, "consent_withdrawn");
    assert.deepEqual([valid(events), retracted(events)], [[cancelled], [succeeded]]);
    const [success] = events.filter((event) => event.type === succeeded);
    // A delivery that was claimed before may be on the wire; it arrives once, at about that time.
    const sent = arrivals.filter((arrival) => arrival.eventId === success?.id);
    assert.ok(sent.length <= 1 && sent.every((arrival) => arrival.at < at + 1_000));
    const [stands] = events.filter((event) => event.retracted_at === null);
    assert.equal(arrivals.filter((arrival) => arrival.eventId === stands?.id).length, 1);
  }
});
