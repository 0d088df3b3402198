import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { sql } from "../../platform/db/sql.ts";
import type { LimitState } from "./guess-limit.ts";

type LimitRow = { key: Buffer; level: number; updatedAt: Date; blockedUntil: Date | null };

/**
 * The locked rows of these keys; missing ones are inserted. Locked in the order of their keys, to prevent
 * deadlocks.
 */
export function lockLimits(tx: Tx, keys: readonly Buffer[], now: Date): Promise<LimitRow[]> {
  return tx.rows<LimitRow>(sql`
    insert into guess_limits (key, level, updated_at, blocked_until, expires_at)
    select key, 0, ${now}::timestamptz, null::timestamptz, ${now}::timestamptz
    from unnest(${keys}::bytea[]) as key order by key
    on conflict (key) do update set key = excluded.key
    returning key, level, updated_at, blocked_until`);
}

export async function writeLimit(tx: Tx, key: Buffer, state: LimitState, expiresAt: Date): Promise<void> {
  await tx.run(sql`
    update guess_limits
    set level = ${state.level}, updated_at = ${state.updatedAt}, blocked_until = ${state.blockedUntil}, expires_at = ${expiresAt}
    where key = ${key}`);
}

export async function removeLimit(db: Queryable, key: Buffer): Promise<void> {
  await db.run(sql`delete from guess_limits where key = ${key}`);
}

/** Refunds a correct try, and removes the wait that it alone had caused. */
export async function refundLimit(db: Queryable, key: Buffer, blockedUntil: Date | null): Promise<void> {
  await db.run(sql`
    update guess_limits set level = greatest(level - 1, 0),
      blocked_until = case when blocked_until = ${blockedUntil} then null else blocked_until end
    where key = ${key}`);
}

export async function isFamiliarAddress(db: Queryable, key: Buffer, now: Date): Promise<boolean> {
  return (
    (await db.first(sql`select 1 from familiar_addresses where key = ${key} and expires_at > ${now}`)) !==
    null
  );
}

export async function rememberAddress(db: Queryable, key: Buffer, expiresAt: Date): Promise<void> {
  await db.run(sql`
    insert into familiar_addresses (key, expires_at) values (${key}, ${expiresAt})
    on conflict (key) do update set expires_at = excluded.expires_at`);
}

export function expiredLimits(now: Date): readonly Expired[] {
  const due = sql`expires_at <= ${now}`;
  return [
    { table: "guess_limits", key: "key", type: "bytea", due },
    { table: "familiar_addresses", key: "key", type: "bytea", due },
  ];
}
