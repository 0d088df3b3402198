import type { UserId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

type SecondFactorRow = { secret: Buffer; confirmedAt: Date | null };

export function findSecondFactor(db: Queryable, userId: UserId): Promise<SecondFactorRow | null> {
  return db.first<SecondFactorRow>(
    sql`select secret, confirmed_at from second_factors where user_id = ${userId}`,
  );
}

/** Replaces an unconfirmed secret. False if there is a confirmed one. */
export async function putUnconfirmedSecret(
  db: Queryable,
  userId: UserId,
  secret: Buffer,
  now: Date,
): Promise<boolean> {
  const written = await db.run(sql`
    insert into second_factors (user_id, secret, created_at) values (${userId}, ${secret}, ${now})
    on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at, last_step = null
    where second_factors.confirmed_at is null`);
  return written === 1;
}

/**
 * Consumes a time step of the one-time code. Each step is accepted once, across all processes (replay
 * protection).
 */
export async function takeStep(tx: Tx, userId: UserId, step: number): Promise<boolean> {
  const taken = await tx.run(sql`
    update second_factors set last_step = ${step}
    where user_id = ${userId} and (last_step is null or last_step < ${step})`);
  return taken === 1;
}

/** False if the second factor was already confirmed. */
export async function confirmSecret(tx: Tx, userId: UserId, now: Date): Promise<boolean> {
  const confirmed = await tx.run(
    sql`update second_factors set confirmed_at = ${now} where user_id = ${userId} and confirmed_at is null`,
  );
  return confirmed === 1;
}

/** Whether a confirmed one was removed. */
export async function removeSecondFactor(tx: Tx, userId: UserId): Promise<boolean> {
  const removed = await tx.first<{ confirmedAt: Date | null }>(
    sql`delete from second_factors where user_id = ${userId} returning confirmed_at`,
  );
  await tx.run(sql`delete from backup_codes where user_id = ${userId}`);
  return removed !== null && removed.confirmedAt !== null;
}

/** A secret that was shown but never confirmed must not be confirmed later. */
export async function removeUnconfirmedSecret(tx: Tx, userId: UserId): Promise<void> {
  await tx.run(sql`delete from second_factors where user_id = ${userId} and confirmed_at is null`);
}

export async function replaceBackupCodes(
  tx: Tx,
  userId: UserId,
  hashes: readonly Buffer[],
  now: Date,
): Promise<void> {
  await tx.run(sql`delete from backup_codes where user_id = ${userId}`);
  await tx.run(sql`
    insert into backup_codes (user_id, code_hash, created_at)
    select ${userId}::uuid, hash, ${now}::timestamptz from unnest(${hashes}::bytea[]) as hash`);
}

export async function takeBackupCode(tx: Tx, userId: UserId, hash: Buffer): Promise<boolean> {
  return (
    (await tx.run(sql`delete from backup_codes where user_id = ${userId} and code_hash = ${hash}`)) === 1
  );
}
