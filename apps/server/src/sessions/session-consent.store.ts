import type { OrganizationId, SessionId } from "@assay/contract/ids";
import type { Queryable } from "../db/db.ts";
import { sql } from "../db/sql.ts";

/** What the person of a session agreed to, as far as the partner may know it. */
export type SessionConsentRow = {
  selected_field_keys: string[];
  given_at: Date;
  withdrawn_at: Date | null;
};

export function consentOfSession(
  db: Queryable,
  organizationId: OrganizationId,
  id: SessionId,
): Promise<SessionConsentRow | null> {
  return db.first<SessionConsentRow>(sql`
    select selected_field_keys, given_at, withdrawn_at from consents
    where session_id = ${id} and organization_id = ${organizationId}`);
}
