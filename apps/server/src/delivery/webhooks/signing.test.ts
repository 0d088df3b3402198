import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";
import type { DeliveryId, EventId } from "@assay/contract/ids";
import { deliveryHeaders } from "@assay/contract/openapi";
import { knownId, newId } from "../../platform/kernel/ids.ts";
import { headersOf, newSigningSecret, sign } from "./signing.ts";

const now = new Date("2026-03-01T09:30:00.900Z");
const delivery = {
  id: knownId<DeliveryId>("whd_1"),
  eventId: knownId<EventId>("evt_1"),
  eventType: "a.b",
};
const seconds = Math.floor(now.getTime() / 1000);

test("a secret is 32 random bytes behind its prefix", () => {
  const secret = newSigningSecret();
  assert.match(secret, /^whsec_/);
  assert.equal(Buffer.from(secret.slice(6), "base64").length, 32);
  assert.notEqual(newSigningSecret(), secret);
});

test("the signatures are over the second that has begun, keyed with the text and with the bytes of the secret", () => {
  const secret = newSigningSecret();
  const bytes = Buffer.from(secret.slice("whsec_".length), "base64");
  const { own, standard } = sign([secret], { eventId: delivery.eventId, payload: "body" }, now);
  assert.equal(own, createHmac("sha256", secret).update(`${seconds}.body`).digest("hex"));
  assert.equal(standard, createHmac("sha256", bytes).update(`evt_1.${seconds}.body`).digest("base64"));
});

test("during a rotation each header holds the signature of either secret, the newest first", () => {
  const secrets = [newSigningSecret(), newSigningSecret()];
  const both = headersOf(delivery, sign(secrets, { eventId: delivery.eventId, payload: "body" }, now), now);
  const alone = secrets.map((secret) =>
    headersOf(delivery, sign([secret], { eventId: delivery.eventId, payload: "body" }, now), now),
  );
  for (const name of ["x-service-signature", "webhook-signature"])
    assert.equal(both[name], alone.map((headers) => headers[name]).join(" "));
});

test("the headers of an attempt name it, and hold its signatures for as long as they are kept", () => {
  const unsigned = {
    "content-type": "application/jose",
    "user-agent": "Assay-Webhooks/1",
    "x-service-delivery-id": "whd_1",
    "x-service-event": "a.b",
    "webhook-id": "evt_1",
    "webhook-timestamp": String(seconds),
  };
  assert.deepEqual(headersOf(delivery, null, now), unsigned);
  assert.deepEqual(headersOf(delivery, { own: "aa", standard: "bb" }, now), {
    ...unsigned,
    "x-service-signature": `t=${seconds},v1=aa`,
    "webhook-signature": "v1,bb",
  });
});

test("the headers have the forms that the API description gives them, with one secret and with two", () => {
  const sent = { id: newId("whd", now), eventId: newId("evt", now), eventType: "webhook.endpoint.test" };
  for (const secrets of [[newSigningSecret()], [newSigningSecret(), newSigningSecret()]]) {
    const headers = headersOf(sent, sign(secrets, { eventId: sent.eventId, payload: "body" }, now), now);
    for (const { name, schema } of deliveryHeaders)
      assert.match(headers[name.toLowerCase()] ?? "", new RegExp(schema.pattern), name);
  }
});
