import type pg from "pg";
import { answerLimitMs } from "../db/connection.ts";
import type { Queryable } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { textTables } from "./text-tables.ts";

/** Of several processes one cleans at a time. The lock goes with the connection, so a process that dies gives it back. */
const cleaningLock = 7205114303;

// A table that is being rewritten makes everybody wait from the moment on that we ask for it. Half of it, and a busy table is seldom
// free in time; doubled, and requests that take 15 s at most lose a quarter of their time to a rewrite that has not begun.
const lockMs = 2_000;

/** Runs `work` on a connection that cleans alone, with these limits; null when another process is cleaning. */
export async function cleaningAlone<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T | null> {
  const { rows } = await client.query("select pg_try_advisory_lock($1) as free", [cleaningLock]);
  if (rows[0]?.free !== true) return null;
  try {
    return await work();
  } finally {
    await client.query("select pg_advisory_unlock($1)", [cleaningLock]);
  }
}

async function unhurried(client: pg.ClientBase, text: string, statementMs: number): Promise<void> {
  await client.query(`set statement_timeout = ${statementMs}; set lock_timeout = ${lockMs}`);
  try {
    await client.query({ text, query_timeout: answerLimitMs(statementMs) } as pg.QueryConfig);
  } finally {
    await client.query("reset statement_timeout; reset lock_timeout");
  }
}

/** Table and indexes are written anew without what was deleted; nobody else can use the table meanwhile. */
export async function rewriteTable(client: pg.ClientBase, table: string, statementMs: number): Promise<void> {
  await unhurried(client, `vacuum (full) ${table}`, statementMs);
}

/** What was deleted is no row any more. Its bytes stay in free space until something is written over them. Locks nobody out. */
export async function vacuumTable(client: pg.ClientBase, table: string, statementMs: number): Promise<void> {
  await unhurried(client, `vacuum (index_cleanup on, truncate on) ${table}`, statementMs);
}

/**
 * What transactions before this number deleted was left out when the table was rewritten last: a rewrite freezes everything that is
 * older than the oldest transaction that anybody could still look back to, and notes how far that was.
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

/** Tables note the lower 32 bits of a number; the whole one is never far from the newest. */
function nearest(short: number, long: number): number {
  const circle = 2 ** 32;
  const ahead = (((short - long) % circle) + circle) % circle;
  return long + (ahead < circle / 2 ? ahead : ahead - circle);
}

/** A table, or a part of one, and the transaction up to which its last rewrite left everything out. */
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

/** The release before counts changes there, too, and cleans again where its count differs. */
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
 * Removes the write-ahead log up to now from the files. Files of the log that an earlier version had put aside for later use, with their
 * old content, are written over first. False when something still needs the old files, such as a backup that is being made.
 */
export async function dropOldLog(client: pg.ClientBase, statementMs: number): Promise<boolean> {
  const aside = await client.query(
    `select count(*)::integer as count from pg_ls_waldir() where ${segment} and name > pg_walfile_name(pg_current_wal_lsn())`,
  );
  const count = Number(aside.rows[0]?.count);
  let last = "";
  for (let file = 0; file <= count; file++) {
    // A file that nothing was written to is not left.
    await client.query("select pg_logical_emit_message(false, 'assay', '')");
    const switched = await client.query("select pg_walfile_name(pg_switch_wal()) as name");
    last = String(switched.rows[0]?.name);
  }
  await unhurried(client, "checkpoint", statementMs);
  const left = await client.query(
    `select count(*)::integer as count from pg_ls_waldir() where ${segment} and name <= $1`,
    [last],
  );
  return Number(left.rows[0]?.count) === 0;
}
