import assert from "node:assert/strict";
import test from "node:test";
import { type EventType, eventPayloads, eventTypes } from "@assay/contract/events";
import { sessionLifetimeMinutes, triesAllowed } from "@assay/contract/facts";
import { Compile } from "typebox/compile";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { claimedSession, TestDevice, testDocument } from "../../support/verify-device.ts";

const receiver = await startReceiver();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: receiver.ca },
});
const { clock } = service;
const partner = await createPartner(service.api);
const endpoint = await createReceivingEndpoint(partner.api, receiver.url);

async function readChip(documentId: string) {
  const { session, socketToken } = await claimedSession(partner.api, {
    client_reference_id: "order-7391",
    share_fields: { family_name: { required: true, reason: "To greet you." } },
  });
  const device = await TestDevice.connect(service.url, session.id, socketToken);
  await device.expect("welcome");
  return { device, document: testDocument(documentId, clock.now()) };
}

/** How each type of event is caused. A missing type does not compile, and fails below. */
const scenarios: Readonly<Record<EventType, () => Promise<void>>> = {
  "verification.session.succeeded": async () => {
    const { device, document } = await readChip("passport-valid");
    await device.passChip(document);
    device.send({ type: "face_start" });
    assert.equal((await device.expect("outcome")).status, "succeeded");
  },
  "verification.session.failed": async () => {
    const { device, document } = await readChip("passport-expired");
    for (let number = 1; number <= triesAllowed; number++) {
      const { type } = await device.passChip(document, 10 * number);
      assert.equal(type, number < triesAllowed ? "step_result" : "outcome");
    }
  },
  "verification.session.expired": async () => {
    expectData(await partner.api.post("/v1/sessions"), 201);
    clock.advance(sessionLifetimeMinutes * minuteMs);
    await service.runJob("expire-sessions");
  },
  "verification.session.cancelled": async () => {
    const { id } = expectData(await partner.api.post("/v1/sessions"), 201);
    assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`)).status, 204);
  },
  "webhook.endpoint.test": async () => {
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  },
};

/** Published schemas are open, so that fields may be added. Payloads contain only declared fields. */
function withoutExtras(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutExtras);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withoutExtras(part)]));
  return "properties" in copy ? { ...copy, additionalProperties: false } : copy;
}

for (const type of eventTypes) {
  test(`a decrypted ${type} is exactly what the contract publishes`, async () => {
    const before = receiver.received.length;
    await (scenarios[type] ?? (() => assert.fail("no scenario covers this type")))();
    await service.runJob("deliver-webhooks");
    const bodies = receiver.received.slice(before).map(({ body }) => body);
    const events = await Promise.all(bodies.map(async (body) => (await decrypt(body)).event));
    assert.deepEqual(
      events.map((event) => event.type),
      [type],
    );
    const [event] = events;
    const published = Compile(withoutExtras(eventPayloads[type]) as (typeof eventPayloads)[EventType]);
    assert.deepEqual([...published.Errors(event)], []);
    assert.equal(event.metadata.event_id, event.id);
  });
}
