import type { SealedBody, WebhookDelivery, WebhookDeliveryAttempt } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import type { DeliveryAttemptRow, DeliveryRow } from "./delivery.store.ts";
import { answerOf, type ExchangeRow, type SealedRow } from "./exchange.store.ts";
import { headersOf } from "./signing.ts";

export function viewDelivery(row: DeliveryRow): Static<typeof WebhookDelivery> {
  return {
    id: row.id,
    event_id: row.eventId,
    event_type: row.eventType,
    webhook_endpoint_id: row.endpointId,
    webhook_encryption_key_id: row.encryptionKeyId,
    status: row.status,
    attempt_count: row.attemptCount,
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
    last_status_code: row.lastStatusCode,
    last_error: row.lastError,
    last_attempt_at: row.lastAttemptAt?.toISOString() ?? null,
    payload_expires_at: row.payloadExpiresAt?.toISOString() ?? null,
    payload_scrubbed_at: row.payloadScrubbedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** One try. Signatures and answer are kept as long as the payload; without the exchange they are left out. */
export function viewDeliveryAttempt(
  delivery: DeliveryRow,
  row: DeliveryAttemptRow,
  exchange: ExchangeRow | null,
): Static<typeof WebhookDeliveryAttempt> {
  const { id, eventId, eventType } = delivery;
  const answer = exchange === null ? null : answerOf(exchange);
  const signatures =
    exchange === null ? null : { own: exchange.signature, standard: exchange.standardSignature };
  return {
    id: row.id,
    status_code: row.statusCode,
    error: row.error,
    duration_ms: row.durationMs,
    attempted_at: row.attemptedAt.toISOString(),
    request_headers: headersOf({ id, eventId, eventType }, signatures, row.attemptedAt),
    receiver_answer:
      answer === null ? null : { status_line: answer.statusLine, text: answer.text, is_cut: answer.isCut },
  };
}

export function viewSealedBody(row: SealedRow | null): Static<typeof SealedBody> | null {
  return row === null ? null : { bytes: Buffer.byteLength(row.payload), key_id: row.keyId, jwe: row.payload };
}
