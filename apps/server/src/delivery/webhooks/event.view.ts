import type { WebhookEvent } from "@assay/contract/events";
import type { Static } from "typebox";
import type { EventRow } from "./event.store.ts";

export function viewEvent(row: EventRow): Static<typeof WebhookEvent> {
  return {
    id: row.id,
    type: row.type,
    session_id: row.session_id,
    sandbox: row.sandbox,
    contract_version: row.contract_version,
    client_reference_id: row.client_reference_id,
    created_at: row.created_at.toISOString(),
    retracted_at: row.retracted_at?.toISOString() ?? null,
  };
}
