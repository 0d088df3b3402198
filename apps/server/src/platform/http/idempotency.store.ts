import type { Queryable, Tx } from "../db/db.ts";
import type { Expired } from "../db/quarantine.store.ts";
import { sql } from "../db/sql.ts";

export type EarlierAnswer = {
  /** The keyed hash of a request that was stored before digests were sealed. */
  requestHash: Buffer | null;
  requestDigest: Buffer | null;
  status: number;
  answer: Buffer | null;
  expiresAt: Date;
};

/** The stored answer of a used key; null also while the first request is in progress. Does not wait. */
export function findAnswer(db: Queryable, id: Buffer, now: Date): Promise<EarlierAnswer | null> {
  return db.first<EarlierAnswer>(sql`
    select request_hash, request_digest, status, answer, expires_at from idempotent_answers
    where id = ${id} and expires_at > ${now}`);
}

/** Claims the key, and waits for another request that holds it. Returns the stored answer of a used key. */
export async function claimKey(
  tx: Tx,
  id: Buffer,
  claim: { requestDigest: Buffer; now: Date; expiresAt: Date },
): Promise<EarlierAnswer | null> {
  await tx.run(sql`delete from idempotent_answers where id = ${id} and expires_at <= ${claim.now}`);
  const claimed = await tx.run(sql`
    insert into idempotent_answers (id, request_digest, status, expires_at)
    values (${id}, ${claim.requestDigest}, 0, ${claim.expiresAt})
    on conflict (id) do nothing`);
  if (claimed === 1) return null;
  return tx.one<EarlierAnswer>(
    sql`select request_hash, request_digest, status, answer, expires_at from idempotent_answers where id = ${id}`,
  );
}

export async function rememberAnswer(
  tx: Tx,
  id: Buffer,
  status: number,
  sealed: Buffer | null,
): Promise<void> {
  await tx.run(sql`update idempotent_answers set status = ${status}, answer = ${sealed} where id = ${id}`);
}

export function expiredAnswers(now: Date): Expired {
  return { table: "idempotent_answers", key: "id", type: "bytea", due: sql`expires_at <= ${now}` };
}
