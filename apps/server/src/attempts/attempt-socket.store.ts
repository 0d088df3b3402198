import type { AttemptId, OrganizationId, SessionId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { hashToken } from "../kernel/ids.ts";
import { ofSession, type SessionRow, sessionColumns } from "../sessions/session.store.ts";

/** A fresh token for the device of the attempt; its previous token is void. */
export function putSocketToken(
  tx: Tx,
  socket: {
    attemptId: AttemptId;
    sessionId: SessionId;
    organizationId: OrganizationId;
    tokenHash: Buffer;
    now: Date;
  },
): void {
  tx.write(sql`
    insert into attempt_sockets (attempt_id, session_id, organization_id, token_hash, created_at, updated_at)
    values (${socket.attemptId}, ${socket.sessionId}, ${socket.organizationId}, ${socket.tokenHash}, ${socket.now},
      ${socket.now})
    on conflict (attempt_id) do update set token_hash = excluded.token_hash, updated_at = excluded.updated_at`);
}

export type SocketOwner = {
  session: SessionRow;
  attemptId: AttemptId;
  /** What the person agreed to share. Fixed since the attempt began. */
  selectedFieldKeys: readonly string[];
  /** The chip has passed before, so reading it again uses up no try. */
  chipPassed: boolean;
};

/**
 * The session and the attempt that a socket token belongs to. Null when the session is unknown, the token is not the
 * latest one of its attempt, or the attempt is over. The session may have expired meanwhile: the caller has to check
 * its status.
 */
export async function findSocketOwner(
  db: Queryable,
  sessionId: SessionId,
  socketToken: string,
): Promise<SocketOwner | null> {
  const row = await db.first<
    SessionRow & {
      chip_passed: boolean;
      owner: { attempt_id: AttemptId; selected_field_keys: string[] } | null;
    }
  >(sql`
    select ${sessionColumns}, chip_passed_at is not null as chip_passed,
      (select json_build_object('attempt_id', a.id, 'selected_field_keys', c.selected_field_keys)
        from attempt_sockets k
        join attempts a on a.id = k.attempt_id and a.status = 'in_progress' and ${ofSession(sessionId, sql`a.`)}
        join consents c on c.session_id = ${sessionId}
        where k.session_id = ${sessionId} and k.token_hash = ${hashToken(socketToken)}) as owner
    from sessions where id = ${sessionId}`);
  if (row === null || row.owner === null) return null;
  const { owner, chip_passed: chipPassed, ...session } = row;
  return {
    session,
    attemptId: owner.attempt_id,
    selectedFieldKeys: owner.selected_field_keys,
    chipPassed,
  };
}

/** False when the attempt is over or is at this step already. */
export async function setStep(
  tx: Tx,
  sessionId: SessionId,
  attemptId: AttemptId,
  step: string,
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update attempt_sockets k set step = ${step}, updated_at = ${now}
    from attempts a
    where k.attempt_id = ${attemptId} and k.session_id = ${sessionId} and k.step is distinct from ${step}
      and a.id = ${attemptId} and a.status = 'in_progress'`);
  return changed === 1;
}

export async function deleteAttemptSockets(tx: Tx, sessionIds: readonly SessionId[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await tx.run(sql`delete from attempt_sockets where session_id = any(${sessionIds}::text[])`);
}
