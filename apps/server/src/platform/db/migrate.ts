import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { ExplainedError } from "../lib/explained-error.ts";
import { sqlState } from "../lib/sql-state.ts";
import { endConnection } from "./connection.ts";
import {
  type AppliedMigration,
  describeSchemaProblem,
  numberOf,
  readHeader,
  schemaProblem,
} from "./schema-version.ts";
import { splitStatements } from "./split-statements.ts";
import { sql } from "./sql.ts";
import { connectWithRetry, type Warn } from "./wait-for-database.ts";

export type Migration = { name: string; text: string; checksum: string };

const migrationsFolder = new URL("../../../migrations/", import.meta.url);
// Any fixed number: every process that migrates takes this lock first.
const advisoryLock = 7_205_114_301;

export function listMigrations(): Migration[] {
  return readdirSync(migrationsFolder)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, migrationsFolder), "utf8");
      return { name, text, checksum: createHash("sha256").update(text).digest("hex") };
    });
}

export type MigrateOptions = {
  /** How long to wait for a database that does not answer yet. */
  waitForDatabaseMs?: number;
  /** How long one attempt waits for a lock, and delays all requests queued behind it. */
  lockMs?: number;
  giveUpAfterMs?: number;
  warn?: Warn;
  /**
   * When to apply contracting migrations. By default, once no running process needs what they remove; `never`
   * skips them, `now` applies them without a check.
   */
  contract?: "when_free" | "never" | "now";
  /** Called for each postponed migration, with the processes that it waits for. */
  onPostponed?: (migration: string, processes: readonly string[]) => void;
  /** For tests: replaces the migrations in the folder. */
  migrations?: readonly Migration[];
};

// A pending table lock blocks all requests behind it, so this is how long one attempt may delay them. With
// half of it, a busy table may never be free for long enough. With twice, clients start to time out.
const lockMs = 2_000;
const pauseMs = 1_000;
const giveUpAfterMs = 600_000;
// An index on a large table takes long, but delays no one: the previous release keeps serving.
const statementMs = 6 * 3_600_000;

/**
 * Applies missing migrations, each in one transaction with the row that records it; returns their names. An
 * advisory lock lets one process at a time through. A migration that does not get its locks in time is
 * retried, so that requests proceed in between. A contracting one waits until no process needs what it
 * removes.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const warn = options.warn ?? (() => {});
  const client = await connectToMigrate(url, options);
  const untilLocked = <T>(what: string, attempt: () => Promise<T>): Promise<T> =>
    retryForLock(what, attempt, options.giveUpAfterMs ?? giveUpAfterMs, warn);
  const known = options.migrations ?? listMigrations();
  try {
    await untilLocked("another process that migrates the database", () => takeLock(client));
    await client.query(
      "create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null)",
    );
    const done = await listApplied(client);
    refuseContracted(known, done);
    const applied: string[] = [];
    for (const migration of known) {
      const before = done.find(({ name }) => name === migration.name);
      if (before?.checksum === migration.checksum) continue;
      if (before !== undefined) {
        throw new ExplainedError(
          `migration ${migration.name} was edited after it was applied; restore its text and add a new migration`,
        );
      }
      const blocking = await findBlockingProcesses(client, migration, options.contract ?? "when_free");
      if (blocking !== null) {
        options.onPostponed?.(migration.name, blocking);
        continue;
      }
      await untilLocked(`a lock that migration ${migration.name} needs`, () => apply(client, migration));
      applied.push(migration.name);
    }
    return applied;
  } finally {
    await endConnection(client);
  }
}

/** For a start without migrations: rejects a database that is too old or too new for this release. */
export async function checkSchema(
  url: string,
  options: Pick<MigrateOptions, "waitForDatabaseMs" | "warn" | "migrations"> = {},
): Promise<void> {
  const known = options.migrations ?? listMigrations();
  const client = await connectToMigrate(url, options);
  try {
    const { rows } = await client.query("select to_regclass('schema_migrations') is not null as there");
    const done = rows[0]?.there === true ? await listApplied(client) : [];
    refuseContracted(known, done);
    const problem = schemaProblem(known, done);
    if (problem !== null)
      throw new ExplainedError(
        `The database is too old for this release: ${describeSchemaProblem(problem)}. Run \`assay migrate\`, or start without SKIP_MIGRATIONS.`,
      );
  } finally {
    await endConnection(client);
  }
}

function connectToMigrate(url: string, options: MigrateOptions): Promise<pg.Client> {
  return connectWithRetry(url, {
    name: "assay migrate",
    limits: { statementMs, lockMs: options.lockMs ?? lockMs, idleInTransactionMs: 60_000, connectMs: 10_000 },
    waitMs: options.waitForDatabaseMs ?? 0,
    warn: options.warn ?? (() => {}),
  });
}

class LockTaken extends Error {}

/**
 * Does not wait inside of the statement: CREATE INDEX CONCURRENTLY would wait for its snapshot, and both
 * would wait forever.
 */
async function takeLock(client: pg.Client): Promise<void> {
  const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [advisoryLock]);
  if (rows[0]?.taken !== true) throw new LockTaken();
}

// Read through JSON, because a database from before migration 0083 lacks the column.
export const appliedMigrations = sql`
  select name, checksum, (to_jsonb(m) ->> 'least_code')::integer as "minCode" from schema_migrations m`;

async function listApplied(client: pg.Client): Promise<(AppliedMigration & { checksum: string })[]> {
  return (await client.query(appliedMigrations.text)).rows;
}

function refuseContracted(known: readonly Migration[], done: readonly AppliedMigration[]): void {
  const problem = schemaProblem(known, done);
  if (problem?.kind !== "too_new") return;
  const text = describeSchemaProblem(problem);
  throw new ExplainedError(
    `${text.charAt(0).toUpperCase()}${text.slice(1)}. Start a newer release. To go back to this one, restore a backup from before the upgrade.`,
  );
}

/** The processes that a migration has to wait for; null if there are none. */
async function findBlockingProcesses(
  client: pg.Client,
  { text }: Migration,
  contract: NonNullable<MigrateOptions["contract"]>,
): Promise<readonly string[] | null> {
  const { phase, codeSince } = readHeader(text);
  if (phase !== "contract" || contract === "now") return null;
  if (contract === "never") return [];
  // A process that is silent for this long counts as gone elsewhere, too (`key-ring/ring-state.ts`). Releases
  // before 0103 do not report their version. Read through JSON, because a database from before 0103 lacks the
  // column.
  const { rows } = await client.query<{ name: string }>(
    `select name from key_ring_processes p
     where seen_at > now() - interval '30 seconds' and coalesce((to_jsonb(p) ->> 'code_version')::integer, 0) < $1 order by name`,
    [codeSince],
  );
  return rows.length === 0 ? null : rows.map(({ name }) => name);
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    if (readHeader(migration.text).inTransaction) await applyInTransaction(client, migration);
    else await applyByStatement(client, migration);
  } catch (error) {
    if (isLockTimeout(error)) throw error;
    throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}

async function applyInTransaction(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("begin");
  try {
    await client.query(migration.text);
    await record(client, migration);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/**
 * For statements that cannot run in a transaction, such as CREATE INDEX CONCURRENTLY. After a crash the next
 * process repeats all statements; each has no effect if it is already done (the suite checks their forms).
 * Their locks delay no request, so they may wait for them.
 */
async function applyByStatement(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("set lock_timeout = 0");
  try {
    for (const statement of splitStatements(migration.text)) {
      const [, index, table] =
        /^create (?:unique )?index concurrently if not exists (\w+)\s+on (\w+)/i.exec(statement) ?? [];
      if (index !== undefined) await dropInvalidIndex(client, index);
      const [, dropped] = /^drop index concurrently if exists (\w+)/i.exec(statement) ?? [];
      // PostgreSQL creates and drops indexes of a partitioned table only under a lock.
      const hasPartitions = await isPartitioned(client, table ?? dropped ?? "");
      await client.query(hasPartitions ? statement.replace(/ concurrently/i, "") : statement);
    }
    await record(client, migration);
  } finally {
    await client.query("reset lock_timeout").catch(() => {});
  }
}

/** Whether an operator or an earlier release has partitioned this table, or the table of this index. */
async function isPartitioned(client: pg.Client, relation: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "select from pg_class where oid = to_regclass($1) and relkind in ('p', 'I')",
    [relation],
  );
  return rowCount !== 0;
}

/**
 * An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index, which slows down writes and serves no
 * query.
 */
async function dropInvalidIndex(client: pg.Client, index: string): Promise<void> {
  const { rowCount } = await client.query(
    "select from pg_index where indexrelid = to_regclass($1) and not indisvalid",
    [index],
  );
  if (rowCount !== 0) await client.query(`drop index concurrently if exists ${index}`);
}

async function record(client: pg.Client, migration: Migration): Promise<void> {
  const { codeSince } = readHeader(migration.text);
  const [column, place, values] = codeSince === null ? ["", "", []] : [", least_code", ", $4", [codeSince]];
  await client.query(
    `insert into schema_migrations (name, checksum, applied_at${column}) values ($1, $2, $3${place})`,
    [migration.name, migration.checksum, new Date(), ...values],
  );
}

/** The number of the newest migration in this code. */
export function codeVersion(migrations: readonly Migration[] = listMigrations()): number {
  return Math.max(0, ...migrations.map(numberOf));
}

async function retryForLock<T>(
  what: string,
  attempt: () => Promise<T>,
  limitMs: number,
  warn: Warn,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const waitedSeconds = Math.round((performance.now() - startedAt) / 1000);
      if (performance.now() - startedAt > limitMs) {
        throw new ExplainedError(
          `The database could not be migrated: waited ${waitedSeconds} seconds for ${what}. pg_stat_activity and pg_locks show which session holds the lock.`,
          { cause: error },
        );
      }
      warn(`waiting for ${what}`, { waitedSeconds });
      await wait(pauseMs);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof LockTaken || sqlState(error) === "55P03";
}
