import type { SealedBody, WebhookDelivery, WebhookDeliveryAttempt } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import type { DeliveryAttemptRow, DeliveryRow } from "./delivery.store.ts";
import { answerOf, type ExchangeRow, type SealedRow } from "./exchange.store.ts";
import { headersOf } from "./signing.ts";

export function viewDelivery(row: DeliveryRow): Static<typeof WebhookDelivery> {
  return {
    id: row.id,
    event_id: row.event_id,
    event_type: row.event_type,
    webhook_endpoint_id: row.endpoint_id,
    webhook_encryption_key_id: row.encryption_key_id,
    status: row.status,
    attempt_count: row.attempt_count,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    last_status_code: row.last_status_code,
    last_error: row.last_error,
    last_attempt_at: row.last_attempt_at?.toISOString() ?? null,
    payload_expires_at: row.payload_expires_at?.toISOString() ?? null,
    payload_scrubbed_at: row.payload_scrubbed_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** One try. Without its exchange, which is kept as long as the payload, signatures and answer are left out. */
export function viewDeliveryAttempt(
  delivery: DeliveryRow,
  row: DeliveryAttemptRow,
  exchange: ExchangeRow | null,
): Static<typeof WebhookDeliveryAttempt> {
  const { id, event_id: eventId, event_type: eventType } = delivery;
  const answer = exchange === null ? null : answerOf(exchange);
  const signatures =
    exchange === null ? null : { own: exchange.signature, standard: exchange.standard_signature };
  return {
    id: row.id,
    status_code: row.status_code,
    error: row.error,
    duration_ms: row.duration_ms,
    attempted_at: row.attempted_at.toISOString(),
    request_headers: headersOf({ id, eventId, eventType }, signatures, row.attempted_at),
    receiver_answer:
      answer === null ? null : { status_line: answer.statusLine, text: answer.text, is_cut: answer.isCut },
  };
}

export function viewSealedBody(row: SealedRow | null): Static<typeof SealedBody> | null {
  return row === null
    ? null
    : { bytes: Buffer.byteLength(row.payload), key_id: row.key_id, jwe: row.payload };
}
