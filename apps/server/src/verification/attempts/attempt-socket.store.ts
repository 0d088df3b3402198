import type { AttemptId, OrganizationId, SessionId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { ofSession, type SessionRow, sessionColumns } from "../sessions/session.store.ts";

/** A fresh token for the device of the attempt; its previous token is void. */
export function putSocketToken(
  tx: Tx,
  socket: {
    attemptId: AttemptId;
    sessionId: SessionId;
    organizationId: OrganizationId;
    tokenHash: Buffer;
    /** The step that the page shows for an attempt to which no device connects. */
    step?: string;
    now: Date;
  },
): void {
  tx.write(sql`
    insert into attempt_sockets (attempt_id, session_id, organization_id, token_hash, step, created_at, updated_at)
    values (${socket.attemptId}, ${socket.sessionId}, ${socket.organizationId}, ${socket.tokenHash}, ${socket.step ?? null},
      ${socket.now}, ${socket.now})
    on conflict (attempt_id) do update set token_hash = excluded.token_hash, updated_at = excluded.updated_at`);
}

type SocketOwner = {
  session: SessionRow;
  attemptId: AttemptId;
  /** What the person agreed to share. Fixed since the attempt began. */
  selectedFieldKeys: readonly string[];
};

/**
 * The session and the attempt of a socket token. Null if the session is unknown, a newer token exists, or the
 * attempt is over. The session may have expired: the caller checks its status.
 */
export async function findSocketOwner(
  db: Queryable,
  sessionId: SessionId,
  socketToken: string,
): Promise<SocketOwner | null> {
  const row = await db.first<
    SessionRow & { owner: { attemptId: AttemptId; selectedFieldKeys: string[] } | null }
  >(sql`
    select ${sessionColumns},
      (select json_build_object('attemptId', a.id, 'selectedFieldKeys', c.selected_field_keys)
        from attempt_sockets k
        join attempts a on a.id = k.attempt_id and a.status = 'in_progress' and ${ofSession(sessionId, sql`a.`)}
        join consents c on c.session_id = ${sessionId}
        where k.session_id = ${sessionId} and k.token_hash = ${hashToken(socketToken)}) as owner
    from sessions where id = ${sessionId}`);
  if (row === null || row.owner === null) return null;
  const { owner, ...session } = row;
  return { session, attemptId: owner.attemptId, selectedFieldKeys: owner.selectedFieldKeys };
}

/** False when the attempt is over, or is at this step already. */
export async function setStep(
  tx: Tx,
  of: { sessionId: SessionId; attemptId: AttemptId },
  step: string,
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update attempt_sockets k set step = ${step}, updated_at = ${now}
    from attempts a
    where k.attempt_id = ${of.attemptId} and k.session_id = ${of.sessionId}
      and k.step is distinct from ${step}
      and a.id = ${of.attemptId} and a.status = 'in_progress'`);
  return changed === 1;
}

export type ChallengeAnswer =
  | "handed_out"
  /** All free challenges are unanswered, or the attempt is over, which counting the try finds out. */
  | "spent"
  /** Its frames have crashed the check too often. */
  | "given_up";

/** Counts a challenge before it is given to the device, if it may have one. */
export async function countChallenge(
  tx: Tx,
  asked: {
    sessionId: SessionId;
    attemptId: AttemptId;
    step: string;
    maxFreeChallenges: number;
    maxBreakdowns: number;
    now: Date;
  },
): Promise<ChallengeAnswer> {
  const counted = await tx.run(sql`
    update attempt_sockets k
    set step = ${asked.step}, updated_at = ${asked.now}, unanswered_challenges = k.unanswered_challenges + 1
    from attempts a
    where k.attempt_id = ${asked.attemptId} and k.session_id = ${asked.sessionId}
      and k.unanswered_challenges < ${asked.maxFreeChallenges} and k.face_breakdowns <= ${asked.maxBreakdowns}
      and a.id = ${asked.attemptId} and a.status = 'in_progress'`);
  if (counted === 1) return "handed_out";
  const found = await tx.first<{ faceBreakdowns: number }>(
    sql`select face_breakdowns from attempt_sockets where attempt_id = ${asked.attemptId}`,
  );
  return found !== null && found.faceBreakdowns > asked.maxBreakdowns ? "given_up" : "spent";
}

/** A challenge that was answered but not judged, through our fault, does not count as unanswered. */
export async function giveBackChallenge(
  db: Queryable,
  attemptId: AttemptId,
  brokeDown: boolean,
): Promise<void> {
  await db.run(sql`
    update attempt_sockets
    set unanswered_challenges = greatest(unanswered_challenges - 1, 0), face_breakdowns = face_breakdowns + ${brokeDown ? 1 : 0}
    where attempt_id = ${attemptId}`);
}

export async function deleteAttemptSockets(tx: Tx, sessionIds: readonly SessionId[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await tx.run(sql`delete from attempt_sockets where session_id = any(${sessionIds}::text[])`);
}
