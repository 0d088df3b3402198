import type { ConsentLanguage } from "@assay/contract/verify";
import type { Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { later } from "../lib/clock.ts";
import { type SessionRow, sessionColumns } from "../sessions/session.store.ts";
import { inFlightMs } from "../sessions/session.ts";
import { type HandoffToken, hashToken } from "./handoff.ts";

// --- what the pages show ------------------------------------------------------------------------------------------

export type StatusRow = SessionRow & {
  consent_given: boolean;
  attempt: { id: string; step: string | null; heard_recently: boolean } | null;
};

/** One read, whatever is shown: it is made for every open page at every change. */
export function findStatus(db: Queryable, sessionId: string, now: Date): Promise<StatusRow | null> {
  return db.first<StatusRow>(sql`
    select ${sessionColumns},
      exists (select from consents c where c.session_id = sessions.id) as consent_given,
      (select json_build_object('id', a.id, 'step', k.step,
          'heard_recently', coalesce(a.last_seen_at > ${later(now, -inFlightMs)}, false))
        from attempts a left join attempt_sockets k on k.attempt_id = a.id
        where a.session_id = sessions.id and a.status = 'in_progress') as attempt
    from sessions where id = ${sessionId}`);
}

// --- consent ------------------------------------------------------------------------------------------------------

export type ConsentRow = {
  session_id: string;
  id: string;
  selected_field_keys: string[];
  terms_version: string;
  terms_hash: string;
  language: ConsentLanguage | null;
  receipt: string;
  cancel_token_hash: Buffer;
  given_at: Date;
  withdrawn_at: Date | null;
};

const consentColumns = sql`session_id, id, selected_field_keys, terms_version, terms_hash, language, receipt,
  cancel_token_hash, given_at, withdrawn_at`;

export function findConsent(db: Queryable, sessionId: string): Promise<ConsentRow | null> {
  return db.first<ConsentRow>(sql`select ${consentColumns} from consents where session_id = ${sessionId}`);
}

/** Replaces the consent of the session, if there is one, and all that was made under it. */
export async function putConsent(
  tx: Tx,
  consent: Omit<ConsentRow, "withdrawn_at"> & { organization_id: string },
): Promise<void> {
  await tx.run(sql`delete from consents where session_id = ${consent.session_id}`);
  await tx.run(sql`delete from handoff_tokens where session_id = ${consent.session_id}`);
  await tx.run(sql`
    insert into consents (session_id, organization_id, id, selected_field_keys, terms_version, terms_hash, language,
      receipt, cancel_token_hash, given_at)
    values (${consent.session_id}, ${consent.organization_id}, ${consent.id}, ${consent.selected_field_keys},
      ${consent.terms_version}, ${consent.terms_hash}, ${consent.language}, ${consent.receipt},
      ${consent.cancel_token_hash}, ${consent.given_at})`);
}

/** Like the session's own token: works once. Null when it is not the consent's. */
export async function spendConsentToken(
  tx: Tx,
  sessionId: string,
  tokenHash: Buffer,
  now: Date,
): Promise<{ first: boolean } | null> {
  const found = await tx.first<{ cancel_token_used_at: Date | null }>(sql`
    select cancel_token_used_at from consents
    where session_id = ${sessionId} and cancel_token_hash = ${tokenHash} for update`);
  if (found === null) return null;
  if (found.cancel_token_used_at !== null) return { first: false };
  await tx.run(sql`update consents set cancel_token_used_at = ${now} where session_id = ${sessionId}`);
  return { first: true };
}

/** Whether the token is the person's or the partner's cancel token of the session, used or not. */
export async function knowsCancelToken(
  db: Queryable,
  sessionId: string,
  tokenHash: Buffer,
): Promise<boolean> {
  const found = await db.first(sql`
    select 1 from sessions s left join consents c on c.session_id = s.id
    where s.id = ${sessionId} and ${tokenHash} in (s.cancel_token_hash, c.cancel_token_hash)`);
  return found !== null;
}

export async function markConsentWithdrawn(tx: Tx, sessionId: string, now: Date): Promise<void> {
  await tx.run(sql`
    update consents set withdrawn_at = ${now} where session_id = ${sessionId} and withdrawn_at is null`);
}

// --- handoff ------------------------------------------------------------------------------------------------------

/** So many tokens of a session are kept; with more, the oldest go. */
const mostTokensPerSession = 200;

export async function insertHandoffToken(
  tx: Tx,
  token: {
    tokenHash: Buffer;
    sessionId: string;
    organizationId: string;
    mayTakeOver: boolean;
    expiresAt: Date;
    now: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into handoff_tokens (token_hash, session_id, organization_id, may_take_over, expires_at, created_at)
    values (${token.tokenHash}, ${token.sessionId}, ${token.organizationId}, ${token.mayTakeOver},
      ${token.expiresAt}, ${token.now})`);
  // One that a device has claimed stays: the device comes back with it.
  await tx.run(sql`
    delete from handoff_tokens where token_hash in (
      select token_hash from handoff_tokens where session_id = ${token.sessionId} and device_hash is null
      order by created_at desc offset ${mostTokensPerSession})`);
}

export async function lockHandoffToken(
  tx: Tx,
  sessionId: string,
  tokenHash: Buffer,
): Promise<HandoffToken | null> {
  const row = await tx.first<{
    expires_at: Date;
    consumed_at: Date | null;
    device_hash: Buffer | null;
    may_take_over: boolean;
  }>(sql`
    select expires_at, consumed_at, device_hash, may_take_over from handoff_tokens
    where session_id = ${sessionId} and token_hash = ${tokenHash} for update`);
  return (
    row && {
      expiresAt: row.expires_at,
      consumedAt: row.consumed_at,
      deviceHash: row.device_hash,
      mayTakeOver: row.may_take_over,
    }
  );
}

/** The device has this token now, and every other one of the session that nobody had claimed is void. */
export async function consumeHandoffTokens(
  tx: Tx,
  claim: { sessionId: string; tokenHash: Buffer; deviceHash: Buffer; now: Date },
): Promise<void> {
  await tx.run(sql`
    update handoff_tokens set consumed_at = ${claim.now},
      device_hash = case when token_hash = ${claim.tokenHash} then ${claim.deviceHash}::bytea end
    where session_id = ${claim.sessionId} and consumed_at is null`);
}

// --- sockets ------------------------------------------------------------------------------------------------------

/** A fresh token for the device of the attempt; the one before is void. */
export async function putSocketToken(
  tx: Tx,
  socket: { attemptId: string; sessionId: string; organizationId: string; tokenHash: Buffer; now: Date },
): Promise<void> {
  await tx.run(sql`
    insert into attempt_sockets (attempt_id, session_id, organization_id, token_hash, created_at, updated_at)
    values (${socket.attemptId}, ${socket.sessionId}, ${socket.organizationId}, ${socket.tokenHash}, ${socket.now},
      ${socket.now})
    on conflict (attempt_id) do update set token_hash = excluded.token_hash, updated_at = excluded.updated_at`);
}

export type SocketOwner = {
  session: SessionRow;
  attemptId: string;
  /** What the person agreed to share. Fixed since the attempt began. */
  selectedFieldKeys: readonly string[];
  /** The chip has passed before, so reading it again uses up no try. */
  chipPassed: boolean;
};

/**
 * Whose socket this is. Null when the session is unknown, the token is not the latest one of its attempt, or the attempt
 * is over. The session may have expired: its status at this moment is for the caller to see.
 */
export async function findSocketOwner(
  db: Queryable,
  sessionId: string,
  socketToken: string,
): Promise<SocketOwner | null> {
  const row = await db.first<
    SessionRow & {
      chip_passed: boolean;
      owner: { attempt_id: string; selected_field_keys: string[] } | null;
    }
  >(sql`
    select ${sessionColumns}, chip_passed_at is not null as chip_passed,
      (select json_build_object('attempt_id', a.id, 'selected_field_keys', c.selected_field_keys)
        from attempt_sockets k
        join attempts a on a.id = k.attempt_id and a.status = 'in_progress'
        join consents c on c.session_id = k.session_id
        where k.session_id = sessions.id and k.token_hash = ${hashToken(socketToken)}) as owner
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
  sessionId: string,
  attemptId: string,
  step: string,
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update attempt_sockets k set step = ${step}, updated_at = ${now}
    from attempts a
    where k.attempt_id = ${attemptId} and k.session_id = ${sessionId} and k.step is distinct from ${step}
      and a.id = k.attempt_id and a.status = 'in_progress'`);
  return changed === 1;
}

// --- retention ----------------------------------------------------------------------------------------------------

/** What is known of devices is forgotten when their attempts are minimised, long after the session's hour. */
export async function deleteDeviceRows(tx: Tx, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await tx.run(sql`delete from attempt_sockets where session_id = any(${sessionIds}::text[])`);
  await tx.run(sql`delete from handoff_tokens where session_id = any(${sessionIds}::text[])`);
}

/** What is kept beside sessions goes with them. */
export async function deleteVerifyRows(tx: Tx, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await deleteDeviceRows(tx, sessionIds);
  await tx.run(sql`delete from consents where session_id = any(${sessionIds}::text[])`);
}

// --- keys ---------------------------------------------------------------------------------------------------------

export type ConsentReceiptKeyRow = { id: string; public_key: Buffer; private_key: Buffer };

export function findConsentReceiptKey(db: Queryable): Promise<ConsentReceiptKeyRow | null> {
  return db.first<ConsentReceiptKeyRow>(sql`select id, public_key, private_key from consent_receipt_keys`);
}

/** Of two processes that need the first key at once, one makes it. */
export async function insertConsentReceiptKey(
  db: Queryable,
  key: ConsentReceiptKeyRow,
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into consent_receipt_keys (id, public_key, private_key, created_at)
    values (${key.id}, ${key.public_key}, ${key.private_key}, ${now})
    on conflict do nothing`);
}
