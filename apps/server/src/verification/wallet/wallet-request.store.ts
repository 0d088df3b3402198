import type { SessionId } from "@assay/contract/ids";
import { walletLimits } from "@assay/contract/wallet-facts";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { sql } from "../../platform/db/sql.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import type { Requirements } from "../evidence/kind.ts";
import type { ShareFields } from "../sessions/share-contract.ts";
import type { WalletRequest } from "./wallet-request.ts";

const columns = sql`id_hash, session_id, organization_id, sandbox, attempt_id, channel, query as asked, nonce, client_id,
  response_key_sealed, browser_hash, binding, state, expires_at, fetched_at`;

/** A session has one open request: what was open before is retired. */
export function putRequest(tx: Tx, request: WalletRequest, now: Date): void {
  tx.write(sql`
    update wallet_requests set state = 'expired', response_key_sealed = null, code_hash = null, held = null, held_until = null
    where session_id = ${request.sessionId} and state in ('made', 'fetched', 'answered')`);
  tx.write(sql`
    insert into wallet_requests (id_hash, session_id, organization_id, sandbox, attempt_id, channel, query, nonce, client_id,
      response_key_sealed, browser_hash, binding, state, made_at, expires_at)
    values (${request.idHash}, ${request.sessionId}, ${request.organizationId}, ${request.sandbox}, ${request.attemptId},
      ${request.channel}, ${JSON.stringify(request.asked)}, ${request.nonce}, ${request.clientId}, ${request.responseKeySealed},
      ${request.browserHash}, ${request.binding}, ${request.state}, ${now}, ${request.expiresAt})`);
}

/** By the hash of its id, because the id is a secret. */
export function findRequest(db: Queryable, idHash: Buffer): Promise<WalletRequest | null> {
  return db.first<WalletRequest>(sql`select ${columns} from wallet_requests where id_hash = ${idHash}`);
}

export type AgreedTerms = {
  selectedFieldKeys: readonly string[];
  shareFields: ShareFields;
  requirements: Requirements;
  walletTries: number;
};

/** What the session asks for and the person agreed to; fixed since the attempt began. */
export function findAgreedTerms(db: Queryable, sessionId: SessionId): Promise<AgreedTerms | null> {
  return db.first<AgreedTerms>(sql`
    select c.selected_field_keys, s.share_fields, s.requirements, coalesce((s.steps->'wallet'->>'tries')::integer, 0) as wallet_tries
    from sessions s join consents c on c.session_id = s.id where s.id = ${sessionId}`);
}

/** False where another fetch came first. */
export async function markFetched(
  db: Queryable,
  { idHash, fetchedAt }: Pick<WalletRequest, "idHash" | "fetchedAt">,
  now: Date,
): Promise<boolean> {
  const marked = await db.run(sql`
    update wallet_requests set state = 'fetched', fetched_at = coalesce(fetched_at, ${now})
    where id_hash = ${idHash} and state in ('made', 'fetched') and fetched_at is not distinct from ${fetchedAt}`);
  return marked === 1;
}

/** Takes the request for one answer; a concurrent one finds it taken. Its key is no longer needed. */
export async function takeForAnswer(db: Queryable, idHash: Buffer, now: Date): Promise<boolean> {
  const taken = await db.run(sql`
    update wallet_requests set state = 'answered', answered_at = ${now}, response_key_sealed = null
    where id_hash = ${idHash} and answered_at is null and state in ('made', 'fetched') and expires_at > ${now}`);
  return taken === 1;
}

/** Counts an unreadable answer. The last one retires the request. False if the request is not open. */
export async function countUnreadable(tx: Tx, idHash: Buffer): Promise<boolean> {
  const counted = await tx.run(sql`
    update wallet_requests set unreadable_answers = unreadable_answers + 1,
      state = case when unreadable_answers + 1 < ${walletLimits.unreadableAnswers}::integer then state else 'expired' end,
      response_key_sealed = case when unreadable_answers + 1 < ${walletLimits.unreadableAnswers}::integer then response_key_sealed end
    where id_hash = ${idHash} and state in ('made', 'fetched')`);
  return counted === 1;
}

/** Ends an answered request and deletes its held proof. False if a newer request has replaced it. */
export async function endAnswered(
  db: Queryable,
  idHash: Buffer,
  state: "completed" | "refused" | "declined" | "expired",
): Promise<boolean> {
  const ended = await db.run(sql`
    update wallet_requests set state = ${state}, code_hash = null, held = null, held_until = null
    where id_hash = ${idHash} and state = 'answered'`);
  return ended === 1;
}

export async function putHold(
  db: Queryable,
  idHash: Buffer,
  hold: { codeHash: Buffer; held: Buffer; heldUntil: Date },
): Promise<boolean> {
  const put = await db.run(sql`
    update wallet_requests set code_hash = ${hold.codeHash}, held = ${hold.held}, held_until = ${hold.heldUntil}
    where id_hash = ${idHash} and state = 'answered' and held is null`);
  return put === 1;
}

type HeldRequest = WalletRequest & { held: Buffer; heldUntil: Date };

export function findHeld(db: Queryable, sessionId: SessionId, codeHash: Buffer): Promise<HeldRequest | null> {
  return db.first<HeldRequest>(sql`
    select ${columns}, held, held_until from wallet_requests
    where session_id = ${sessionId} and code_hash = ${codeHash} and state = 'answered'`);
}

/** Requests of ended sessions, proofs of people who did not return, and requests older than a day. */
export function expiredRequests(now: Date): Expired {
  return {
    table: "wallet_requests",
    key: "id_hash",
    type: "bytea",
    owned: true,
    due: sql`(held_until <= ${now} or made_at <= ${later(now, -dayMs)} or not exists (
      select from sessions s where s.id = wallet_requests.session_id and s.status in ('created', 'in_progress')))`,
  };
}

export async function deleteWalletRequests(tx: Tx, sessionIds: readonly SessionId[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await tx.run(sql`delete from wallet_requests where session_id = any(${sessionIds}::text[])`);
}
