import type { AuditLog } from "@assay/contract/audit";
import type { Static } from "typebox";
import { environmentOf } from "../kernel/caller.ts";
import type { AuditRow } from "./audit.store.ts";

export function viewAuditLog(row: AuditRow): Static<typeof AuditLog> {
  return {
    id: row.id,
    event: row.event,
    actor_type: row.actorKind,
    actor_id: row.actorId,
    target_id: row.targetId,
    details: row.details,
    environment: row.sandbox === null ? null : environmentOf({ sandbox: row.sandbox }),
    created_at: row.createdAt.toISOString(),
  };
}
