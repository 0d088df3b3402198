import type pg from "pg";
import { later } from "../kernel/clock.ts";
import { floorOf, type IdKind, madeAt } from "../kernel/ids.ts";
import { answerLimitMs } from "./connection.ts";
import type { Db, Queryable } from "./db.ts";
import {
  aheadOfClockMs,
  boundsOf,
  type DividedTable,
  endOfBefore,
  firstWithItsPart,
  isTooClose,
  type KnownParts,
  type Part,
  partName,
  readPart,
} from "./parts.ts";
import { Sql, sql } from "./sql.ts";

/** Of several processes one divides tables, makes and drops parts. The lock goes with the connection, so a process that dies gives it back. */
const partsLock = 7_205_114_310;

// Whoever waits for a whole table makes everybody wait behind. Half of it, and a busy table is seldom free in time; doubled, and requests lose a
// quarter of their time to what has not begun.
const lockMs = 2_000;

/** Runs `work` on a connection that is alone in this; null when another process is at it. */
export async function changingPartsAlone<T>(
  client: pg.ClientBase,
  work: () => Promise<T>,
): Promise<T | null> {
  const { rows } = await client.query("select pg_try_advisory_lock($1) as free", [partsLock]);
  if (rows[0]?.free !== true) return null;
  try {
    return await work();
  } finally {
    await client.query("select pg_advisory_unlock($1)", [partsLock]);
  }
}

// Names of tables, columns and parts come from our own code, bounds are ids that we make, and definitions are PostgreSQL's own words.
const name = (text: string) => new Sql([text], []);

async function send(client: pg.ClientBase, text: string, statementMs: number): Promise<pg.QueryResult> {
  return client.query({ text, query_timeout: answerLimitMs(statementMs) } as pg.QueryConfig);
}

const opening = (statementMs: number) =>
  `begin; set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs}`;

/** All of it or nothing, and nothing where a lock is not to be had at once. */
async function together<T>(
  client: pg.ClientBase,
  statementMs: number,
  work: (run: (text: string) => Promise<pg.QueryResult>) => Promise<T>,
): Promise<T> {
  const run = (text: string) => send(client, text, statementMs);
  try {
    await run(opening(statementMs));
    const result = await work(run);
    await run("commit");
    return result;
  } catch (error) {
    await run("rollback").catch(() => {});
    throw error;
  }
}

/** The parts of a table, the oldest first; null where it is not divided. */
export async function listParts(db: Queryable, table: string): Promise<Part[] | null> {
  const rows = await db.rows<{ name: string | null; bound: string | null }>(sql`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_class t left join pg_inherits i on i.inhparent = t.oid left join pg_class c on c.oid = i.inhrelid
    where t.oid = to_regclass(${table}) and t.relkind = 'p'`);
  if (rows.length === 0) return null;
  const parts = rows.flatMap((row) =>
    row.name === null || row.bound === null ? [] : [readPart(row.name, row.bound)],
  );
  const startOf = (part: Part) =>
    part.kind === "before" ? -1 : part.kind === "rest" ? Number.POSITIVE_INFINITY : part.from.getTime();
  return parts.sort((a, b) => startOf(a) - startOf(b));
}

/** Those of the tables that are divided, with what lists have to know of their parts. */
export async function readKnownParts(
  db: Queryable,
  tables: readonly DividedTable[],
  now: Date,
): Promise<ReadonlyMap<string, KnownParts>> {
  const known = new Map<string, KnownParts>();
  const names = tables.map(({ table }) => table);
  const divided = await db.rows<{ table: string }>(sql`
    select t as table from unnest(${names}::text[]) t join pg_class c on c.oid = to_regclass(t) where c.relkind = 'p'`);
  for (const { table, key, ids } of tables) {
    if (!divided.some((each) => each.table === table)) continue;
    const parts = (await listParts(db, table)) ?? [];
    const reached = floorOf(ids, later(now, aheadOfClockMs));
    const ahead = await db.first(
      sql`select from ${name(table)} where ${name(key)} >= ${reached} order by ${name(key)} desc limit 1`,
    );
    known.set(table, { ids, bounds: boundsOf(parts), isAhead: ahead !== null });
  }
  return known;
}

/**
 * Rows of the table with an id from here on go with their part, those below are deleted by themselves when their time has come. In order: ids of dropped parts lie
 * below it. Null where all go by themselves.
 */
export async function firstIdInParts(db: Queryable, table: string, ids: IdKind): Promise<string | null> {
  return firstWithItsPart(ids, (await listParts(db, table)) ?? []);
}

export async function bytesOf(db: Queryable, table: string): Promise<number> {
  const { bytes } = await db.one<{ bytes: number }>(
    sql`select pg_total_relation_size(to_regclass(${table})) as bytes`,
  );
  return bytes;
}

export async function newestInRest(db: Queryable, { table, key }: DividedTable): Promise<Date | null> {
  const row = await db.first<{ id: string }>(sql`
    select ${name(key)}::text as id from ${name(`${table}_rest`)} order by ${name(key)} desc limit 1`);
  return row === null ? null : madeAt(row.id);
}

// --- dividing ----------------------------------------------------------------------------------------------------------

/**
 * Divides a table that is in use, without copying a row, in three steps of which each can be repeated: a check that what it holds ends before a moment of the
 * next days, which the database then proves by reading the table while everybody goes on, and the exchange, which only writes into the
 * catalog. Whoever comes after an interruption goes on with the step that is missing. `alsoInParts` are indexes on `PART`.
 */
export async function divideTable(
  client: pg.ClientBase,
  of: DividedTable,
  alsoInParts: readonly string[],
  now: Date,
  statementMs: number,
): Promise<void> {
  const { table, key } = of;
  const check = checkOf(of);
  let end = await checkedEnd(client, table, check);
  // The table would take no new rows from then on. So nobody waits until it comes.
  if (end !== null && isTooClose(end, now)) {
    await together(client, statementMs, (run) => run(`alter table ${table} drop constraint ${check}`));
    end = null;
  }
  if (end === null) {
    const { rows } = await client.query(
      `select ${key}::text as id from ${table} order by ${key} desc limit 1`,
    );
    const newest = rows[0] === undefined ? null : madeAt(String(rows[0].id));
    end = endOfBefore(newest, now);
    const bound = floorOf(of.ids, end);
    await together(client, statementMs, (run) =>
      run(`alter table ${table} add constraint ${check} check (${key} < '${bound}') not valid`),
    );
  }
  await proveCheck(client, table, check, statementMs);
  const bound = floorOf(of.ids, end);
  await together(client, statementMs, (run) => exchange(run, of, { check, bound, alsoInParts }));
}

const checkOf = ({ table }: DividedTable) => `${table}_ends_before`;

/**
 * Takes the check from tables that were left half divided, long before it would refuse a row. Whoever is still dividing one of them finds it gone and begins anew, so this needs
 * no lock among processes. Returns their names.
 */
export async function dropDueChecks(
  db: Db,
  tables: readonly DividedTable[],
  now: Date,
  statementMs: number,
): Promise<string[]> {
  const found = await db.rows<{ table: string; check: string; definition: string }>(sql`
    select conrelid::regclass::text as table, conname as check, pg_get_constraintdef(oid) as definition
    from pg_constraint where conname = any(${tables.map(checkOf)}::name[]) and contype = 'c'`);
  const due = found.filter(({ definition }) => {
    const end = endIn(definition);
    return end !== null && isTooClose(end, now);
  });
  if (due.length === 0) return [];
  await db.withConnection(async (client) => {
    for (const { table, check } of due)
      await together(client, statementMs, (run) =>
        run(`alter table ${table} drop constraint if exists ${check}`),
      );
  });
  return due.map(({ table }) => table);
}

/** The end that a check names. */
function endIn(definition: string): Date | null {
  const bound = /'([^']+)'/.exec(definition)?.[1];
  return bound === undefined ? null : madeAt(bound);
}

async function checkedEnd(client: pg.ClientBase, table: string, check: string): Promise<Date | null> {
  const { rows } = await client.query(
    "select pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = $1::regclass and conname = $2",
    [table, check],
  );
  return endIn(String(rows[0]?.definition ?? ""));
}

/** Reads the whole table, under a lock that keeps nobody from reading or writing. */
async function proveCheck(client: pg.ClientBase, table: string, check: string, statementMs: number) {
  await client.query(`set statement_timeout = ${statementMs}; set lock_timeout = ${lockMs}`);
  try {
    await send(client, `alter table ${table} validate constraint ${check}`, statementMs);
  } finally {
    await client.query("reset statement_timeout; reset lock_timeout");
  }
}

type Run = (text: string) => Promise<pg.QueryResult>;

type Shape = {
  options: string | null;
  indexes: {
    name: string;
    definition: string;
    constraint: string | null;
    holds_key: boolean;
    is_unique: boolean;
  }[];
  checks: { name: string; definition: string; is_valid: boolean }[];
  triggers: { name: string; definition: string }[];
  unsampled: string[];
  grants: string[];
};

async function readShape(run: Run, { table, key }: DividedTable): Promise<Shape> {
  const of = `'${table}'::regclass`;
  const column = async <T>(text: string) => (await run(text)).rows.map((row) => row.text as T);
  const others = await column<string>(
    `select conname as text from pg_constraint where contype = 'f' and (conrelid = ${of} or confrelid = ${of})`,
  );
  if (others.length > 0) throw new Error(`${table} cannot be divided: ${others.join(", ")} refers to rows`);
  const [options] = await column<string | null>(
    `select array_to_string(reloptions, ', ') as text from pg_class where oid = ${of}`,
  );
  return {
    options: options ?? null,
    indexes: (
      await run(
        `select c.relname as name, pg_get_indexdef(c.oid) as definition, pg_get_constraintdef(k.oid) as constraint,
           i.indisunique as is_unique, a.attnum = any(i.indkey) as holds_key
         from pg_index i join pg_class c on c.oid = i.indexrelid
         join pg_attribute a on a.attrelid = i.indrelid and a.attname = '${key}'
         left join pg_constraint k on k.conindid = c.oid and k.contype in ('p', 'u')
         where i.indrelid = ${of} and i.indisvalid order by c.relname`,
      )
    ).rows,
    checks: (
      await run(
        `select conname as name, pg_get_constraintdef(oid) as definition, convalidated as is_valid from pg_constraint
         where conrelid = ${of} and contype = 'c' and conname <> '${table}_ends_before' order by conname`,
      )
    ).rows,
    triggers: (
      await run(
        `select tgname as name, pg_get_triggerdef(oid) as definition from pg_trigger
         where tgrelid = ${of} and not tgisinternal order by tgname`,
      )
    ).rows,
    unsampled: await column<string>(
      `select attname as text from pg_attribute
       where attrelid = ${of} and attnum > 0 and not attisdropped and attstattarget = 0`,
    ),
    grants: await column<string>(
      `select format('grant %s on ${table} to %s', g.privilege_type, coalesce(quote_ident(r.rolname), 'public')) as text
       from pg_class c cross join lateral aclexplode(c.relacl) g left join pg_roles r on r.oid = g.grantee
       where c.oid = ${of} and g.grantee <> c.relowner`,
    ),
  };
}

/** Puts a divided table in the place of the table, with the table as its first part. Nothing is read or copied. */
async function exchange(
  run: Run,
  of: DividedTable,
  { check, bound, alsoInParts }: { check: string; bound: string; alsoInParts: readonly string[] },
): Promise<void> {
  const { table, key } = of;
  const [before, rest] = [`${table}_before`, `${table}_rest`];
  await run(`lock table ${table} in access exclusive mode`);
  // Without its proof the table would be read through, with everybody locked out.
  const proof = await run(
    `select from pg_constraint where conrelid = '${table}'::regclass and conname = '${check}' and convalidated`,
  );
  if (proof.rowCount === 0) throw new Error(`the check of ${table} is gone; it is divided by a later run`);
  const shape = await readShape(run, of);
  // A unique index that does not hold the key can hold in each part for itself only.
  const isEverywhere = (index: Shape["indexes"][number]) => index.holds_key || !index.is_unique;
  for (const index of shape.indexes)
    await run(
      `alter index ${index.name} rename to ${before}${index.name.startsWith(table) ? index.name.slice(table.length) : `_${index.name}`}`,
    );
  await run(`alter table ${table} rename to ${before}`);
  await run(`
    create table ${table} (like ${before} including defaults including storage including compression)
    partition by range (${key})`);
  for (const each of shape.checks.filter(({ is_valid: isValid }) => isValid))
    await run(`alter table ${table} add constraint ${each.name} ${each.definition}`);
  for (const index of shape.indexes.filter(isEverywhere))
    await run(
      index.constraint === null
        ? index.definition
        : `alter table ${table} add constraint ${index.name} ${index.constraint}`,
    );
  for (const trigger of shape.triggers) {
    await run(`drop trigger ${trigger.name} on ${before}`);
    await run(trigger.definition);
  }
  for (const grant of shape.grants) await run(grant);
  await run(`alter table ${table} attach partition ${before} for values from (minvalue) to ('${bound}')`);
  await run(`create table ${rest} (like ${before} including all)`);
  await run(`alter table ${rest} drop constraint ${check}; alter table ${before} drop constraint ${check}`);
  if (shape.options !== null) await run(`alter table ${rest} set (${shape.options})`);
  for (const each of alsoInParts) await run(each.replace("PART", rest));
  await run(`alter table ${table} attach partition ${rest} default`);
  for (const column of shape.unsampled)
    await run(`alter table ${table} alter column ${column} set statistics 0`);
}

// --- parts -------------------------------------------------------------------------------------------------------------

/**
 * Makes a part after the image of the rest. Attaching it locks nobody out but those who write into the rest, for as long as that takes to be looked
 * through: it is empty, or holds nothing of this time.
 */
export async function makePart(
  client: pg.ClientBase,
  { table, ids }: DividedTable,
  { from, to }: { from: Date; to: Date },
  statementMs: number,
): Promise<void> {
  const [part, rest] = [partName(table, from), `${table}_rest`];
  await together(client, statementMs, async (run) => {
    await run(`create table ${part} (like ${rest} including all)`);
    const { rows } = await run(`
      select array_to_string(c.reloptions, ', ') as options,
        array(select attname::text from pg_attribute a where a.attrelid = c.oid and attnum > 0 and attstattarget = 0) as unsampled
      from pg_class c where c.oid = '${rest}'::regclass`);
    const { options, unsampled } = rows[0] as { options: string | null; unsampled: string[] };
    if (options !== null) await run(`alter table ${part} set (${options})`);
    for (const column of unsampled) await run(`alter table ${part} alter column ${column} set statistics 0`);
    await run(
      `alter table ${table} attach partition ${part} for values from ('${floorOf(ids, from)}') to ('${floorOf(ids, to)}')`,
    );
  });
}

/** Statements in the transaction that drops a part, which is no part of the table any more then: what is still owed is put into the rest. */
export type Settle = (part: string) => readonly string[];

/**
 * Drops parts with their files, in one short transaction. Its statements travel together, because everybody waits for the table from the first of them to the commit: on a busy
 * machine a process that is waited for in between gets its turn late. PostgreSQL removes the files once it has released the locks. What is still owed is looked up by indexes,
 * however the planner takes it: to read the whole part would lock everybody out for as long.
 */
export async function dropParts(
  client: pg.ClientBase,
  { table }: DividedTable,
  parts: readonly { name: string; settle: Settle }[],
  statementMs: number,
): Promise<void> {
  const names = parts.map((part) => part.name);
  const statements = [
    opening(statementMs),
    "set local enable_seqscan = off",
    ...names.map((part) => `alter table ${table} detach partition ${part}`),
    ...parts.flatMap((part) => part.settle(part.name)),
    `drop table ${names.join(", ")}`,
    `delete from table_cleanings where table_name in (${names.map((part) => `'${part}'`).join(", ")})`,
    "commit",
  ];
  try {
    await send(client, statements.join(";\n"), statementMs);
  } catch (error) {
    await send(client, "rollback", statementMs).catch(() => {});
    throw error;
  }
}

/** Drops the part that holds what there was before, once nothing is left in it. */
export async function dropEmptyPart(
  client: pg.ClientBase,
  of: DividedTable,
  part: Part,
  statementMs: number,
): Promise<boolean> {
  const isEmpty = async () =>
    (await client.query(`select ${of.key} from ${part.name} order by ${of.key} limit 1`)).rowCount === 0;
  if (!(await isEmpty())) return false;
  await together(client, statementMs, async (run) => {
    await run(`alter table ${of.table} detach partition ${part.name}`);
    if (!(await isEmpty())) throw new Error(`${part.name} was empty a moment ago`);
    await run(`drop table ${part.name}`);
    await run(`delete from table_cleanings where table_name = '${part.name}'`);
  });
  return true;
}
