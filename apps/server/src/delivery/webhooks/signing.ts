import { createHmac, randomBytes } from "node:crypto";
import type { DeliveryId, EventId } from "@assay/contract/ids";

const prefix = "whsec_";

export function newSigningSecret(): string {
  return `${prefix}${randomBytes(32).toString("base64")}`;
}

export type Signatures = {
  /** Hexadecimal, keyed with the whole text of the secret. */
  own: string;
  /** Base64, keyed with the bytes that the secret encodes, as the libraries of Standard Webhooks expect. */
  standard: string;
};

type Signed = { id: DeliveryId; eventId: EventId; eventType: string };

/** The signatures of one attempt, made anew for each. */
export function sign(secret: string, delivery: { eventId: EventId; payload: string }, now: Date): Signatures {
  const timestamp = secondsOf(now);
  return {
    own: createHmac("sha256", secret).update(`${timestamp}.${delivery.payload}`).digest("hex"),
    standard: createHmac("sha256", Buffer.from(secret.slice(prefix.length), "base64"))
      .update(`${delivery.eventId}.${timestamp}.${delivery.payload}`)
      .digest("base64"),
  };
}

/** The headers of one attempt: ours, and those of Standard Webhooks. Without signatures, as they read when those are not kept any more. */
export function headersOf(
  delivery: Signed,
  signatures: Signatures | null,
  now: Date,
): Record<string, string> {
  const timestamp = secondsOf(now);
  return {
    "content-type": "application/jose",
    "user-agent": "Assay-Webhooks/1",
    ...(signatures === null ? {} : { "x-service-signature": `t=${timestamp},v1=${signatures.own}` }),
    "x-service-delivery-id": delivery.id,
    "x-service-event": delivery.eventType,
    "webhook-id": delivery.eventId,
    "webhook-timestamp": String(timestamp),
    ...(signatures === null ? {} : { "webhook-signature": `v1,${signatures.standard}` }),
  };
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
