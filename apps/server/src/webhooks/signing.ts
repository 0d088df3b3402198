import { createHmac, randomBytes } from "node:crypto";
import type { DeliveryId, EventId } from "@assay/contract/ids";

const prefix = "whsec_";

export function newSigningSecret(): string {
  return `${prefix}${randomBytes(32).toString("base64")}`;
}

/**
 * The signature headers of one attempt, computed again for each attempt: `X-Service-Signature`, an HMAC keyed with
 * the whole text of the secret, and the headers of Standard Webhooks, keyed with the bytes that the secret encodes,
 * as its libraries expect.
 */
export function signedHeaders(
  secret: string,
  delivery: { id: DeliveryId; eventId: EventId; eventType: string; payload: string },
  now: Date,
): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000);
  const own = createHmac("sha256", secret).update(`${timestamp}.${delivery.payload}`).digest("hex");
  const standard = createHmac("sha256", Buffer.from(secret.slice(prefix.length), "base64"))
    .update(`${delivery.eventId}.${timestamp}.${delivery.payload}`)
    .digest("base64");
  return {
    "content-type": "application/jose",
    "user-agent": "Assay-Webhooks/1",
    "x-service-signature": `t=${timestamp},v1=${own}`,
    "x-service-delivery-id": delivery.id,
    "x-service-event": delivery.eventType,
    "webhook-id": delivery.eventId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${standard}`,
  };
}
