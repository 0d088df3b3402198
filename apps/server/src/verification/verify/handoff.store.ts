import type { OrganizationId, SessionId } from "@assay/contract/ids";
import { firstRow, type Question, type Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import type { HandoffToken } from "./handoff.ts";

/** Unclaimed tokens of a session. Pages that renew their code need a few dozen an hour. */
const maxTokensPerSession = 200;

export function insertHandoffToken(
  tx: Tx,
  token: {
    tokenHash: Buffer;
    sessionId: SessionId;
    organizationId: OrganizationId;
    mayTakeOver: boolean;
    expiresAt: Date;
    now: Date;
  },
): void {
  tx.write(sql`
    insert into handoff_tokens (token_hash, session_id, organization_id, may_take_over, expires_at, created_at)
    values (${token.tokenHash}, ${token.sessionId}, ${token.organizationId}, ${token.mayTakeOver},
      ${token.expiresAt}, ${token.now})`);
  // A claimed token stays: its device resumes with it.
  tx.write(sql`
    delete from handoff_tokens where token_hash in (
      select token_hash from handoff_tokens where session_id = ${token.sessionId} and device_hash is null
      order by created_at desc offset ${maxTokensPerSession})`);
}

export function heldHandoffToken(sessionId: SessionId, tokenHash: Buffer): Question<HandoffToken | null> {
  return firstRow<HandoffToken>(sql`
    select expires_at, consumed_at, device_hash, may_take_over from handoff_tokens
    where session_id = ${sessionId} and token_hash = ${tokenHash} for update`);
}

/** Marks the token as claimed by the device, and voids every other unclaimed token of the session. */
export function consumeHandoffTokens(
  tx: Tx,
  claim: { sessionId: SessionId; tokenHash: Buffer; deviceHash: Buffer; now: Date },
): void {
  tx.write(sql`
    update handoff_tokens set consumed_at = ${claim.now},
      device_hash = case when token_hash = ${claim.tokenHash} then ${claim.deviceHash}::bytea end
    where session_id = ${claim.sessionId} and consumed_at is null`);
}

/** All tokens, claimed or not: after another consent, and when data about devices is deleted. */
export async function deleteHandoffTokens(tx: Tx, sessionIds: readonly SessionId[]): Promise<void> {
  if (sessionIds.length === 0) return;
  tx.write(sql`delete from handoff_tokens where session_id = any(${sessionIds}::text[])`);
}
