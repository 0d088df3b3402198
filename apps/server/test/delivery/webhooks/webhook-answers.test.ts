import assert from "node:assert/strict";
import test from "node:test";
import { eventPayloads, eventTypes } from "@assay/contract/events";
import type { EndpointId, SessionId } from "@assay/contract/ids";
import { Compile } from "typebox/compile";
import { publishEvents, type SessionEvent } from "../../../src/delivery/webhooks/publish-event.ts";
import { scrubSessionDeliveries } from "../../../src/delivery/webhooks/scrub-session-deliveries.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const receiver = await startReceiver();
const { api, clock, core, runJob, logLines } = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  config: { organizationTestEventsPerMinute: 6 },
  webhooks: { ca: receiver.ca },
});
const hourMs = 3_600_000;
const deliver = () => runJob("deliver-webhooks");
const canary = "QXZJ-echoed-by-the-receiver";

/** A receiver that answers with this text. */
function answer(status: number, body: string | Buffer, reason?: string): void {
  receiver.answerWith((_received, response) => {
    response.writeHead(status, reason, { "content-type": "text/plain" }).end(body);
    return null;
  });
}

type Partner = Awaited<ReturnType<typeof createPartner>>;

async function publish(partner: Partner): Promise<{ eventId: string; sessionId: SessionId }> {
  const sessionId = newId("vs", clock.now());
  const event: SessionEvent = {
    type: "verification.session.expired",
    data: { nfc_tries_used: 0, liveness_tries_used: 0, return_code_sha256: null },
  };
  const session = {
    id: sessionId,
    organizationId: partner.organizationId,
    sandbox: true,
    contractVersion: 1,
    clientReferenceId: null,
    webhookEndpointId: null as EndpointId | null,
  };
  const [eventId = ""] = await core.db.transaction((tx) =>
    publishEvents(core, tx, clock.now(), [{ session, ...event }]),
  );
  return { eventId, sessionId };
}

async function read(partner: Partner, eventId: string) {
  const [found] = expectData<any[]>(await partner.api.get("/v1/webhooks/deliveries", { event_id: eventId }));
  return expectData(await partner.api.get(`/v1/webhooks/deliveries/${found.id}`));
}

const keptOf = (deliveryId: string) =>
  core.db.rows(sql`select attempt_id from webhook_exchanges where delivery_id = ${deliveryId}`);

test("a refused delivery shows the headers, the sealed body and the beginning of the answer", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  answer(500, `${canary} ${"x".repeat(1024)}`, "Out Of Order");
  const { eventId } = await publish(partner);
  await deliver();
  const delivery = await read(partner, eventId);
  const request = receiver.received.at(-1);
  assert.ok(request);
  assert.deepEqual(delivery.sealed_body, {
    bytes: request.body.length,
    key_id: "key-1",
    jwe: request.body,
  });
  const [attempt] = delivery.attempts;
  for (const [name, value] of Object.entries(attempt.request_headers))
    assert.equal(request.headers[name], value, name);
  for (const name of ["x-service-signature", "webhook-signature", "content-type", "user-agent"])
    assert.ok(name in attempt.request_headers, name);
  assert.equal(attempt.receiver_answer.status_line, "500 Out Of Order");
  assert.equal(attempt.receiver_answer.text, `${canary} ${"x".repeat(1024)}`.slice(0, 1024));
  assert.equal(attempt.receiver_answer.is_cut, true);

  // After a rotation the earlier signature is still the one that was sent.
  const sent = attempt.request_headers["x-service-signature"];
  expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/signing-secret/rotate`));
  answer(503, Buffer.from([0x6e, 0x6f, 0x00, 0xff]));
  clock.advance(10_000);
  await deliver();
  const again = await read(partner, eventId);
  assert.deepEqual(
    again.attempts.map((each: any) => [
      each.receiver_answer.status_line,
      each.receiver_answer.text.slice(0, 4),
    ]),
    [
      ["503 Service Unavailable", "no\ufffd\ufffd"],
      ["500 Out Of Order", "QXZJ"],
    ],
  );
  assert.equal(again.attempts[1].request_headers["x-service-signature"], sent);
  assert.ok(!logLines.some((line) => line.includes(canary)), "an answer was logged");

  const list = expectData(await partner.api.get("/v1/webhooks/deliveries"));
  assert.ok(!JSON.stringify(list).includes(request.body), "a list carries bodies");
});

test("a missing answer is shown as such, with what was sent", async () => {
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  const { eventId } = await publish(partner);
  await deliver();
  const [attempt] = (await read(partner, eventId)).attempts;
  assert.equal(attempt.error, "connection_failed");
  assert.equal(attempt.receiver_answer, null);
  assert.match(attempt.request_headers["x-service-signature"], /^t=\d+,v1=[0-9a-f]{64}$/);
});

/** Every way in which a payload is scrubbed. */
const ways: Readonly<
  Record<string, (partner: Partner, given: { endpointId: string; sessionId: SessionId }) => Promise<unknown>>
> = {
  "with the first 2xx": async () => {
    answer(200, canary);
    clock.advance(10_000);
    await deliver();
  },
  "when its time is over": async (partner) => {
    for (let tries = 0; tries < 7; tries++) {
      clock.advance(12 * hourMs);
      await deliver();
    }
    clock.advance(24 * hourMs);
    const [{ id }] = expectData<any[]>(await partner.api.get("/v1/webhooks/deliveries"));
    const due = expectData(await partner.api.get(`/v1/webhooks/deliveries/${id}`));
    assert.equal(due.sealed_body, null, "what is due to go is not shown while the job has not run");
    assert.equal(due.attempts[0].receiver_answer, null);
    await runJob("scrub-webhook-payloads");
  },
  "when its endpoint is deleted": async (partner, { endpointId }) => {
    expectData(await partner.api.delete(`/v1/webhooks/endpoints/${endpointId}`), 204);
    await deliver();
  },
  "when consent is withdrawn": (partner, { sessionId }) =>
    core.db.transaction((tx) =>
      scrubSessionDeliveries(
        tx,
        { id: sessionId, organizationId: partner.organizationId, environment: "sandbox" as const },
        clock.now(),
      ),
    ),
};

for (const [way, go] of Object.entries(ways))
  test(`what a receiver answered goes with the payload: ${way}`, async () => {
    const partner = await createPartner(api);
    const endpoint = await createReceivingEndpoint(partner.api, receiver.url, {
      undelivered_payload_retention_hours: 24,
    });
    answer(500, canary);
    const { eventId, sessionId } = await publish(partner);
    await deliver();
    const { id } = await read(partner, eventId);
    assert.equal((await keptOf(id)).length, 1);
    await go(partner, { endpointId: endpoint.id, sessionId });
    const after = await read(partner, eventId);
    assert.equal(after.sealed_body, null);
    assert.deepEqual(
      after.attempts.filter((each: any) => each.receiver_answer !== null),
      [],
    );
    assert.ok(!("x-service-signature" in after.attempts[0].request_headers));
    assert.equal(after.attempts[0].request_headers["x-service-delivery-id"], id);
    assert.deepEqual(await keptOf(id), []);
  });

test("what a receiver answers after consent was withdrawn is not kept", async () => {
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const held = Promise.withResolvers<void>();
  receiver.answerWith(async (_received, response) => {
    await held.promise;
    response.writeHead(500).end(canary);
    return null;
  });
  const before = receiver.received.length;
  const { eventId, sessionId } = await publish(partner);
  const sending = deliver();
  await until("the request has arrived", () => receiver.received.length > before);
  const session = { id: sessionId, organizationId: partner.organizationId, environment: "sandbox" as const };
  await core.db.transaction((tx) => scrubSessionDeliveries(tx, session, clock.now()));
  held.resolve();
  await sending;
  const after = await read(partner, eventId);
  assert.equal(after.attempts.length, 1);
  assert.equal(after.attempts[0].receiver_answer, null);
  assert.deepEqual(await keptOf(after.id), []);
});

test("deliveries that are purged take their answers along", async () => {
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  const { eventId } = await publish(partner);
  await deliver();
  const { id } = await read(partner, eventId);
  assert.equal((await keptOf(id)).length, 1);
  clock.advance(30 * 24 * hourMs + 1);
  // Its next try is due by now, and a delivery that is being sent is purged later.
  await deliver();
  await runJob("purge-webhook-history");
  assert.deepEqual(await keptOf(id), []);
});

test("a sample of every type can be sent in the sandbox, opens at once and arrives; it belongs to no session", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url, { subscribed_event_types: [] });
  answer(200, "");
  const path = `/v1/webhooks/endpoints/${endpoint.id}/test`;
  for (const type of eventTypes) {
    const before = receiver.received.length;
    const sent = expectData(await partner.api.post(path, { event_type: type }), 202);
    assert.deepEqual([sent.event.type, sent.event.session_id, sent.event.sandbox], [type, null, true]);
    const { event } = await decrypt(sent.sealed_body.jwe);
    const isPublished = Compile(eventPayloads[type]).Check(event as unknown);
    assert.ok(isPublished, type);
    assert.deepEqual([event.id, event.type, event.sandbox], [sent.event.id, type, true]);
    assert.equal(event.metadata.event_id, sent.event.id);
    if (type === "webhook.endpoint.test") assert.equal(event.data.webhook_endpoint_id, endpoint.id);
    await deliver();
    assert.deepEqual(
      receiver.received.slice(before).map(({ body }) => body),
      [sent.sealed_body.jwe],
    );
  }
  // Samples of all types count together.
  expectData(await partner.api.post(path), 202);
  const refused = await partner.api.post(path, { event_type: "verification.session.failed" });
  expectError(refused, 409, "CONFLICT");
  assert.match(String(refused.body.error?.hint), /6 test events a minute/);
});

test("in live no sample about a session that does not exist can be sent", async () => {
  const partner = await createLivePartner(core, api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const path = `/v1/webhooks/endpoints/${endpoint.id}/test`;
  const refused = await partner.api.post(path, { event_type: "verification.session.succeeded" });
  expectError(refused, 409, "SAMPLE_NOT_IN_LIVE");
  assert.match(String(refused.body.error?.message), /in the sandbox only/);
  expectData(await partner.api.post(path), 202);
});
