import type { SessionId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { sql } from "../../platform/db/sql.ts";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { type SessionRow, sessionColumns } from "./session.store.ts";

/** The part of a session's consent that the partner may see. All null before the person has agreed. */
export type SessionConsentRow = {
  selectedFieldKeys: string[] | null;
  givenAt: Date | null;
  withdrawnAt: Date | null;
};

/** The session with its consent in one statement, because partners poll it while they wait for an outcome. */
export function findSessionWithConsent(
  db: Queryable,
  tenant: Tenant,
  id: SessionId,
): Promise<(SessionRow & SessionConsentRow) | null> {
  return db.first<SessionRow & SessionConsentRow>(sql`
    select ${sessionColumns}, agreed.* from sessions
    left join lateral (
      select selected_field_keys, given_at, withdrawn_at from consents
      where consents.session_id = sessions.id and consents.organization_id = sessions.organization_id) agreed on true
    where id = ${id} and ${ownedBy(tenant)}`);
}
