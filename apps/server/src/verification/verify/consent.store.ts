import type { PageLanguage } from "@assay/contract/facts";
import type { ConsentId, OrganizationId, SessionId } from "@assay/contract/ids";
import { firstRow, type Queryable, type Question, type Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

export type ConsentRow = {
  sessionId: SessionId;
  id: ConsentId;
  selectedFieldKeys: string[];
  termsVersion: string;
  termsHash: string;
  language: PageLanguage | null;
  receipt: string;
  cancelTokenHash: Buffer;
  givenAt: Date;
  withdrawnAt: Date | null;
};

const consentColumns = sql`session_id, id, selected_field_keys, terms_version, terms_hash, language, receipt,
  cancel_token_hash, given_at, withdrawn_at`;

export function findConsent(db: Queryable, sessionId: SessionId): Promise<ConsentRow | null> {
  return db.first<ConsentRow>(consentOf(sessionId).statement);
}

export function consentOf(sessionId: SessionId): Question<ConsentRow | null> {
  return firstRow<ConsentRow>(sql`select ${consentColumns} from consents where session_id = ${sessionId}`);
}

/** Replaces the consent of the session, if there is one. */
export function putConsent(
  tx: Tx,
  consent: Omit<ConsentRow, "withdrawnAt"> & { organizationId: OrganizationId },
): void {
  tx.write(sql`delete from consents where session_id = ${consent.sessionId}`);
  tx.write(sql`
    insert into consents (session_id, organization_id, id, selected_field_keys, terms_version, terms_hash, language,
      receipt, cancel_token_hash, given_at)
    values (${consent.sessionId}, ${consent.organizationId}, ${consent.id}, ${consent.selectedFieldKeys},
      ${consent.termsVersion}, ${consent.termsHash}, ${consent.language}, ${consent.receipt},
      ${consent.cancelTokenHash}, ${consent.givenAt})`);
}

/** Like the session's own token: works once. Null when it is not the consent's. */
export async function spendConsentToken(
  tx: Tx,
  sessionId: SessionId,
  tokenHash: Buffer,
  now: Date,
): Promise<{ first: boolean } | null> {
  const found = await tx.first<{ cancelTokenUsedAt: Date | null }>(sql`
    select cancel_token_used_at from consents
    where session_id = ${sessionId} and cancel_token_hash = ${tokenHash} for update`);
  if (found === null) return null;
  if (found.cancelTokenUsedAt !== null) return { first: false };
  await tx.run(sql`update consents set cancel_token_used_at = ${now} where session_id = ${sessionId}`);
  return { first: true };
}

/** Whether the token is the person's or the partner's cancel token of the session, used or not. */
export async function knowsCancelToken(
  db: Queryable,
  sessionId: SessionId,
  tokenHash: Buffer,
): Promise<boolean> {
  const found = await db.first(sql`
    select 1 from sessions s left join consents c on c.session_id = ${sessionId}
    where s.id = ${sessionId} and ${tokenHash} in (s.cancel_token_hash, c.cancel_token_hash)`);
  return found !== null;
}

export async function markConsentWithdrawn(tx: Tx, sessionId: SessionId, now: Date): Promise<void> {
  await tx.run(sql`
    update consents set withdrawn_at = ${now} where session_id = ${sessionId} and withdrawn_at is null`);
}

export async function deleteConsents(tx: Tx, sessionIds: readonly SessionId[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await tx.run(sql`delete from consents where session_id = any(${sessionIds}::text[])`);
}
