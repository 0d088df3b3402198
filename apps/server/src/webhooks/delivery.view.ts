import type { WebhookDelivery, WebhookDeliveryAttempt } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import type { AttemptRow, DeliveryRow } from "./delivery.store.ts";

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

export function viewAttempt(row: AttemptRow): Static<typeof WebhookDeliveryAttempt> {
  return {
    id: row.id,
    status_code: row.status_code,
    error: row.error,
    duration_ms: row.duration_ms,
    attempted_at: row.attempted_at.toISOString(),
  };
}
