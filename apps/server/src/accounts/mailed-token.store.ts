import type { UserId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";

export type TokenPurpose = "magic_link" | "reset_password" | "verify_email" | "change_email";
export type MailedTokenRow = { user_id: UserId; email: string };

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

/**
 * Consumes the token. Of two requests at the same time one gets it; if the transaction rolls back, the token is
 * unused again.
 */
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

export function purgeMailedTokens(db: Queryable, now: Date, limit: number): Promise<number> {
  return db.run(sql`
    delete from mailed_tokens where id in (
      select id from mailed_tokens where expires_at <= ${now} limit ${limit} for update skip locked)`);
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
export async function listMailRequests(db: Queryable, limit: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from mail_requests where set_aside_at is null order by id limit ${limit} for update skip locked`);
  return rows.map(({ id }) => id);
}

/** Those of the requests that no other process has taken meanwhile. */
export function takeMailRequests(tx: Tx, ids: readonly string[]): Promise<MailRequestRow[]> {
  return tx.rows<MailRequestRow>(sql`
    delete from mail_requests where id in (
      select id from mail_requests where id = any(${ids}::uuid[]) and set_aside_at is null
      order by id for update skip locked)
    returning id, purpose, email`);
}

/** False when the request was set aside or answered already. */
export async function setMailRequestAside(
  db: Queryable,
  id: string,
  reason: string,
  now: Date,
): Promise<boolean> {
  const touched = await db.run(sql`
    update mail_requests set set_aside_at = ${now}, set_aside_reason = ${reason}
    where id = ${id} and set_aside_at is null`);
  return touched === 1;
}

export function purgeMailRequests(db: Queryable, setAsideBefore: Date, limit: number): Promise<number> {
  return db.run(sql`
    delete from mail_requests where id in (
      select id from mail_requests where set_aside_at <= ${setAsideBefore} limit ${limit} for update skip locked)`);
}
