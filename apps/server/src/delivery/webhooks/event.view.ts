import type { WebhookEvent } from "@assay/contract/events";
import type { Static } from "typebox";
import type { EventRow } from "./event.store.ts";

export function viewEvent(row: EventRow): Static<typeof WebhookEvent> {
  return {
    id: row.id,
    type: row.type,
    session_id: row.sessionId,
    sandbox: row.sandbox,
    contract_version: row.contractVersion,
    client_reference_id: row.clientReferenceId,
    created_at: row.createdAt.toISOString(),
    retracted_at: row.retractedAt?.toISOString() ?? null,
  };
}
