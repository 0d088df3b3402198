import type { AuditLog } from "@assay/contract/audit";
import type { Static } from "typebox";
import { environmentOf } from "../kernel/caller.ts";
import type { AuditRow } from "./audit.store.ts";

export function viewAuditLog(row: AuditRow): Static<typeof AuditLog> {
  return {
    id: row.id,
    event: row.event,
    actor_type: row.actor_kind,
    actor_id: row.actor_id,
    target_id: row.target_id,
    details: row.details,
    environment: row.sandbox === null ? null : environmentOf({ sandbox: row.sandbox }),
    created_at: row.created_at.toISOString(),
  };
}
