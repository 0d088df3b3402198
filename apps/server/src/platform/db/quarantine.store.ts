import type { OrganizationId } from "@assay/contract/ids";
import type { Db, Queryable, Tx } from "./db.ts";
import { noSql, Sql, sql } from "./sql.ts";

/** NOTIFY channel: an operator requests a retry of a job's rows. The payload is the name of the job. */
export const retryChannel = "assay_job_retries";

/** The type of a key. A row is named by the text of its key, bytes in hexadecimal. */
export type KeyType = "text" | "uuid" | "bytea";

function textOf(key: Sql, type: KeyType): Sql {
  switch (type) {
    case "text":
      return key;
    case "uuid":
      return sql`${key}::text`;
    case "bytea":
      return sql`encode(${key}, 'hex')`;
  }
}

/** Condition for rows that are not quarantined, or are due for a retry. */
export function notQuarantined(job: string, kind: string, key: Sql, type: KeyType, now: Date): Sql {
  return sql`not exists (
    select from set_aside_rows aside
    where aside.job = ${job} and aside.kind = ${kind} and aside.row_id = ${textOf(key, type)} and aside.retry_at > ${now})`;
}

/**
 * Condition for the given rows. Keys are compared in their own type, so that the index of the table is used.
 */
export function isOneOf(ids: readonly string[], key: Sql, type: KeyType): Sql {
  switch (type) {
    case "text":
      return sql`${key} = any(${ids}::text[])`;
    case "uuid":
      return sql`${key} = any(${ids}::uuid[])`;
    case "bytea":
      return sql`${key} = any(${ids.map((id) => Buffer.from(id, "hex"))}::bytea[])`;
  }
}

type NewQuarantinedRow = {
  job: string;
  kind: string;
  rowId: string;
  organizationId: OrganizationId | null;
  reason: string;
  now: Date;
  firstRetryMs: number;
  lastRetryMs: number;
};

/**
 * Quarantines a row, or counts one more failure of a row that was retried: the time to the next retry
 * doubles. Returns the number of failures.
 */
export async function quarantineRow(db: Queryable, row: NewQuarantinedRow): Promise<number> {
  const { tries } = await db.one<{ tries: number }>(sql`
    insert into set_aside_rows as s (job, kind, row_id, organization_id, reason, first_at, last_at, tries, retry_at)
    values (${row.job}, ${row.kind}, ${row.rowId}, ${row.organizationId}, ${row.reason}, ${row.now},
      ${row.now}, 1, ${row.now}::timestamptz + ${row.firstRetryMs}::float8 * interval '1 millisecond')
    on conflict (job, kind, row_id) do update set
      reason = excluded.reason, last_at = excluded.last_at, tries = s.tries + 1,
      retry_at = excluded.last_at + interval '1 millisecond'
        * least(${row.lastRetryMs}::float8, ${row.firstRetryMs}::float8 * 2 ^ least(s.tries, 30))
    returning tries`);
  return tries;
}

export function listJobsWithRows(db: Queryable): Promise<{ job: string; kind: string }[]> {
  return db.rows<{ job: string; kind: string }>(sql`select distinct job, kind from set_aside_rows`);
}

/**
 * Claims rows that are due for a retry. Rows that a process does not finish are due again at `leaseUntil`.
 */
export async function claimRetries(
  db: Queryable,
  of: { job: string; kind: string },
  now: Date,
  leaseUntil: Date,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ rowId: string }>(sql`
    update set_aside_rows set retry_at = ${leaseUntil}
    where job = ${of.job} and kind = ${of.kind} and row_id = any(array(
      select row_id from set_aside_rows
      where job = ${of.job} and kind = ${of.kind} and retry_at <= ${now}
      order by retry_at limit ${limit} for update skip locked))
    returning row_id`);
  return rows.map((row) => row.rowId);
}

/** Those of the given rows that are quarantined and not due for a retry. */
export async function listWaiting(
  db: Queryable,
  of: { job: string; kind: string },
  ids: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await db.rows<{ rowId: string }>(sql`
    select row_id from set_aside_rows
    where job = ${of.job} and kind = ${of.kind} and row_id = any(${ids}::text[]) and retry_at > ${now}`);
  return rows.map((row) => row.rowId);
}

export async function releaseRow(
  db: Queryable,
  of: { job: string; kind: string },
  rowId: string,
): Promise<boolean> {
  const removed = await db.run(
    sql`delete from set_aside_rows where job = ${of.job} and kind = ${of.kind} and row_id = ${rowId}`,
  );
  return removed === 1;
}

/** All rows of a job, for one that tries each of them in every run. */
export async function releaseAllRows(db: Queryable, job: string): Promise<void> {
  await db.run(sql`delete from set_aside_rows where job = ${job}`);
}

export function countQuarantinedRows(db: Queryable): Promise<{ job: string; count: number }[]> {
  return db.rows<{ job: string; count: number }>(
    sql`select job, count(*) as count from set_aside_rows group by job`,
  );
}

export type QuarantinedRow = {
  job: string;
  kind: string;
  rowId: string;
  reason: string;
  firstAt: Date;
  lastAt: Date;
  tries: number;
  retryAt: Date;
};

export function listQuarantinedRows(db: Queryable, limit: number): Promise<QuarantinedRow[]> {
  return db.rows<QuarantinedRow>(sql`
    select job, kind, row_id, reason, first_at, last_at, tries, retry_at from set_aside_rows
    order by job, kind, first_at, row_id limit ${limit}`);
}

export type QuarantineGroup = {
  job: string;
  kind: string;
  reason: string;
  count: number;
  oldestAt: Date;
  nextTryAt: Date;
};

/** Quarantined rows by job, table and reason, the largest group first. No row is named. */
export function groupQuarantinedRows(db: Queryable, limit: number): Promise<QuarantineGroup[]> {
  return db.rows<QuarantineGroup>(sql`
    select job, kind, reason, count(*) as count, min(first_at) as oldest_at, min(retry_at) as next_try_at
    from set_aside_rows group by job, kind, reason order by count(*) desc, job, kind, reason limit ${limit}`);
}

/**
 * Makes rows of one job, or of all, due for a retry now, and wakes their jobs. Returns the number of rows.
 */
export function retryQuarantinedRows(db: Db, job: string | null, now: Date): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await tx.rows<{ job: string }>(sql`
      update set_aside_rows set retry_at = least(retry_at, ${now})
      ${job === null ? noSql : sql`where job = ${job}`} returning job`);
    for (const name of new Set(rows.map((row) => row.job))) tx.notify(retryChannel, name);
    return rows.length;
  });
}

// --- expired rows --------------------------------------------------------------------------------------

/** Expired rows of one table. The names come from our code, never from a caller. */
export type Expired = {
  table: string;
  key: string;
  type: KeyType;
  due: Sql;
  /** Whether the table has an `organization_id`. */
  owned?: boolean;
};

const name = (text: string) => new Sql([text], []);

export type TakenRow = { id: string; organizationId?: OrganizationId | null };

export function takeExpired(
  db: Queryable,
  { table, key, type, due, owned }: Expired,
  among: { where: (key: Sql, type: KeyType) => Sql; limit: number; lock: Sql },
): Promise<TakenRow[]> {
  return db.rows<TakenRow>(sql`
    select ${textOf(name(key), type)} as id ${owned ? sql`, organization_id` : noSql} from ${name(table)}
    where ${due} and ${among.where(name(key), type)} limit ${among.limit} ${among.lock}`);
}

export async function deleteExpired(
  tx: Tx,
  { table, key, type }: Expired,
  ids: readonly string[],
): Promise<void> {
  await tx.run(sql`delete from ${name(table)} where ${isOneOf(ids, name(key), type)}`);
}
