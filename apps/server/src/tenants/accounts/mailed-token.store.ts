import type { UserId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { type Expired, notQuarantined } from "../../platform/db/quarantine.store.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { type Sql, sql } from "../../platform/db/sql.ts";
import { later } from "../../platform/kernel/clock.ts";
import { uuidFloor } from "../../platform/kernel/ids.ts";

export type TokenPurpose = "magic_link" | "reset_password" | "verify_email" | "change_email";
export type MailedTokenRow = { userId: UserId; email: string };

export async function insertMailedToken(
  tx: Tx,
  token: {
    id: string;
    userId: UserId;
    purpose: TokenPurpose;
    email: string;
    tokenHash: Buffer;
    now: Date;
    expiresAt: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into mailed_tokens (id, user_id, purpose, email, token_hash, created_at, expires_at)
    values (${token.id}, ${token.userId}, ${token.purpose}, ${token.email}, ${token.tokenHash}, ${token.now},
      ${token.expiresAt})`);
}

export function findMailedToken(
  db: Queryable,
  purpose: TokenPurpose,
  tokenHash: Buffer,
  now: Date,
): Promise<MailedTokenRow | null> {
  return db.first<MailedTokenRow>(sql`
    select user_id, email from mailed_tokens
    where token_hash = ${tokenHash} and purpose = ${purpose} and expires_at > ${now}`);
}

/** Consumes the token. Of two concurrent requests one gets it; after a rollback the token is unused again. */
export function takeMailedToken(
  tx: Tx,
  purpose: TokenPurpose,
  tokenHash: Buffer,
  now: Date,
): Promise<MailedTokenRow | null> {
  return tx.first<MailedTokenRow>(sql`
    delete from mailed_tokens
    where token_hash = ${tokenHash} and purpose = ${purpose} and expires_at > ${now}
    returning user_id, email`);
}

export async function removeMailedTokens(
  tx: Tx,
  userId: UserId,
  purposes: readonly TokenPurpose[],
): Promise<void> {
  await tx.run(
    sql`delete from mailed_tokens where user_id = ${userId} and purpose = any(${purposes}::text[])`,
  );
}

export function expiredMailedTokens(now: Date): Expired {
  return { table: "mailed_tokens", key: "id", type: "uuid", due: sql`expires_at <= ${now}` };
}

export type MailRequestPurpose = "magic_link" | "reset_password";
export type MailRequestRow = { id: string; purpose: MailRequestPurpose; email: Buffer };

export async function insertMailRequest(
  tx: Tx,
  request: { id: string; purpose: MailRequestPurpose; email: Buffer; now: Date },
): Promise<void> {
  await tx.run(sql`
    insert into mail_requests (id, purpose, email, created_at)
    values (${request.id}, ${request.purpose}, ${request.email}, ${request.now})`);
}

/** The oldest requests that no other process has locked (`skip locked`). */
export function takeMailRequests(db: Queryable, among: Among): Promise<MailRequestRow[]> {
  return db.rows<MailRequestRow>(sql`
    select id, purpose, email from mail_requests where ${among.where(sql`id`, "uuid")}
    order by id limit ${among.limit} ${among.lock}`);
}

/**
 * The time of the oldest unanswered request, without those that `job` has quarantined. Ids begin with their
 * time.
 */
export function oldestMailRequest(job: string, now: Date): Sql {
  return sql`
    select created_at from mail_requests where ${notQuarantined(job, "mail_requests", sql`id`, "uuid", now)} order by id limit 1`;
}

export async function deleteMailRequests(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.run(sql`delete from mail_requests where id = any(${ids}::uuid[])`);
}

/** Requests that were unanswered for too long to be useful. Ids begin with their time. */
export function staleMailRequests(writtenBefore: Date): Expired {
  const due = sql`id < ${uuidFloor(later(writtenBefore, 1))}`;
  return { table: "mail_requests", key: "id", type: "uuid", due };
}
