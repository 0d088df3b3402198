import type { ApiKeyId, OrganizationId, UserId } from "@assay/contract/ids";
import type { Tx } from "../../platform/db/db.ts";
import { type Sql, sql } from "../../platform/db/sql.ts";

/** What a member created and is still in use, in both environments. */
export type MadeCounts = { activeApiKeys: number; webhookEndpoints: number; webhookKeys: number };

/** What the member, or a key of theirs, created according to the audit log. */
const madeBy = (event: Sql) => sql`
  select a.target_id from audit_logs a
  where a.organization_id = m.organization_id and a.event = ${event} and a.actor_id = any(
    array(select k.id::text from api_keys k where k.created_by = m.user_id and k.organization_id = m.organization_id) || m.user_id::text)`;

/** The columns of `MadeCounts`, for a statement that reads memberships as `m`. */
export const madeColumns = sql`
  (select count(*) from api_keys k where k.created_by = m.user_id and k.organization_id = m.organization_id and k.enabled) as active_api_keys,
  (select count(*) from webhook_endpoints e where e.organization_id = m.organization_id
    and e.id in (${madeBy(sql`'webhook_endpoint.created'`)})) as webhook_endpoints,
  (select count(*) from webhook_keys w where w.organization_id = m.organization_id and w.is_active
    and w.id in (${madeBy(sql`'webhook_key.registered'`)})) as webhook_keys`;

/** Disables the active API keys that this person created, in both environments. */
export function disableApiKeysOf(
  tx: Tx,
  organizationId: OrganizationId,
  createdBy: UserId,
  now: Date,
): Promise<{ id: ApiKeyId; name: string; sandbox: boolean }[]> {
  return tx.rows(sql`
    update api_keys set enabled = false, updated_at = ${now}
    where organization_id = ${organizationId} and created_by = ${createdBy} and enabled
    returning id, name, sandbox`);
}
