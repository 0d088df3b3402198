import type pg from "pg";
import { answerLimitMs } from "../db/connection.ts";
import type { Queryable } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { textTables } from "./text-tables.ts";

/**
 * Only one process cleans at a time. The lock belongs to the connection, so a process that dies releases it.
 */
const cleaningLock = 7205114303;

// Requests queue behind our pending table lock. With half of this time, a busy table is seldom free in time.
// With twice, requests lose a quarter of their 15 s to a rewrite that has not begun.
const lockMs = 2_000;

/** Runs `work` under the cleaning lock; null if another process is cleaning. */
export async function cleaningAlone<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T | null> {
  const { rows } = await client.query("select pg_try_advisory_lock($1) as free", [cleaningLock]);
  if (rows[0]?.free !== true) return null;
  try {
    return await work();
  } finally {
    await client.query("select pg_advisory_unlock($1)", [cleaningLock]);
  }
}

async function runWithLimits(client: pg.ClientBase, text: string, statementMs: number): Promise<void> {
  await client.query(`set statement_timeout = ${statementMs}; set lock_timeout = ${lockMs}`);
  try {
    await client.query({ text, query_timeout: answerLimitMs(statementMs) } as pg.QueryConfig);
  } finally {
    await client.query("reset statement_timeout; reset lock_timeout");
  }
}

/** Rewrites a table and its indexes without deleted rows. The table is locked meanwhile. */
export async function rewriteTable(client: pg.ClientBase, table: string, statementMs: number): Promise<void> {
  await runWithLimits(client, `vacuum (full) ${table}`, statementMs);
}

/**
 * Removes deleted rows; their bytes stay in free space until they are overwritten. Blocks neither reads nor
 * writes.
 */
export async function vacuumTable(client: pg.ClientBase, table: string, statementMs: number): Promise<void> {
  await runWithLimits(client, `vacuum (index_cleanup on, truncate on) ${table}`, statementMs);
}

/**
 * Rows that transactions before this number deleted are not in the table's files. A rewrite freezes
 * everything older than the oldest running transaction, and records its number.
 */
export async function horizonOf(client: pg.ClientBase, table: string): Promise<number> {
  const { rows } = await client.query(
    `select relfrozenxid::text::bigint as short, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as long
     from pg_class where oid = $1::regclass`,
    [table],
  );
  const { short, long } = rows[0] as { short: number; long: number };
  return nearest(short, long);
}

/** Tables store the lower 32 bits of a transaction number; the full number is close to the newest. */
function nearest(short: number, long: number): number {
  const circle = 2 ** 32;
  const ahead = (((short - long) % circle) + circle) % circle;
  return long + (ahead < circle / 2 ? ahead : ahead - circle);
}

/** A table or partition, and the transaction up to which its last rewrite removed deleted rows. */
export type TableState = { table: string; horizon: number | null };

export function readTableStates(db: Queryable): Promise<TableState[]> {
  return db.rows<TableState>(sql`
    select r.relname as table, c.horizon
    from pg_class r
    left join pg_inherits i on i.inhrelid = r.oid
    left join pg_class whole on whole.oid = i.inhparent
    left join table_cleanings c on c.table_name = r.relname
    where r.relkind = 'r' and r.relnamespace = current_schema()::regnamespace
      and coalesce(whole.relname, r.relname) = any(${[...textTables]}::text[])
    order by r.relname`);
}

/** The previous release also counts changes there, and cleans again if its count differs. */
export async function noteCleaning(
  db: Queryable,
  cleaned: { table: string; horizon: number },
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into table_cleanings (table_name, horizon, changes, cleaned_at) values (${cleaned.table}, ${cleaned.horizon}, 0, ${now})
    on conflict (table_name) do update set horizon = excluded.horizon, cleaned_at = excluded.cleaned_at`);
}

const segment = "name ~ '^[0-9A-F]{24}$'";

/**
 * Removes the write-ahead log up to now from the files. Segments that an earlier version recycled still have
 * their old content and are overwritten first. False if the old segments are still needed, for example by a
 * backup.
 */
export async function dropOldLog(client: pg.ClientBase, statementMs: number): Promise<boolean> {
  const aside = await client.query(
    `select count(*)::integer as count from pg_ls_waldir() where ${segment} and name > pg_walfile_name(pg_current_wal_lsn())`,
  );
  const count = Number(aside.rows[0]?.count);
  let last = "";
  for (let file = 0; file <= count; file++) {
    // PostgreSQL does not switch away from an empty segment.
    await client.query("select pg_logical_emit_message(false, 'assay', '')");
    const switched = await client.query("select pg_walfile_name(pg_switch_wal()) as name");
    last = String(switched.rows[0]?.name);
  }
  await runWithLimits(client, "checkpoint", statementMs);
  const left = await client.query(
    `select count(*)::integer as count from pg_ls_waldir() where ${segment} and name <= $1`,
    [last],
  );
  return Number(left.rows[0]?.count) === 0;
}
