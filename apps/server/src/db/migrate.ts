import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { sqlState } from "../lib/sql-state.ts";
import { endConnection } from "./connection.ts";
import { connectWhenThere, type Tell } from "./wait-for-database.ts";

export type Migration = { name: string; text: string; checksum: string };

const migrationsFolder = new URL("../../migrations/", import.meta.url);
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
  /** How long one try waits for a lock, and with it everybody who comes after. */
  lockMs?: number;
  /** How long to go on trying. */
  giveUpAfterMs?: number;
  tell?: Tell;
  /** For tests: in place of those in the folder. */
  migrations?: readonly Migration[];
};

// Whoever waits for a lock on a table makes all others wait behind: this is how long one try may hold up requests. With half of it,
// a table under load may never be free for long enough; with twice as much, clients begin to give up.
const lockMs = 2_000;
const pauseMs = 1_000;
const giveUpAfterMs = 600_000;
// An index over a large table takes its time, and nobody waits for it: the service that is being replaced goes on.
const statementMs = 6 * 3_600_000;

/** Says in a sentence why the database could not be migrated. */
export class MigrationError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = "MigrationError";
  }
}

/**
 * Applies what is missing, each migration in a transaction of its own together with the row that records it. Any number
 * of processes may start at once: the lock lets one at a time through. A migration that does not get its locks in
 * time is rolled back and tried again, so that requests which came after it go on in between. Returns the names that were applied.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const tell = options.tell ?? (() => {});
  const client = await connectWhenThere(url, {
    name: "assay migrate",
    limits: { statementMs, lockMs: options.lockMs ?? lockMs, idleInTransactionMs: 60_000, connectMs: 10_000 },
    waitMs: options.waitForDatabaseMs ?? 0,
    tell,
  });
  const untilLocked = <T>(what: string, attempt: () => Promise<T>): Promise<T> =>
    retryForLock(what, attempt, options.giveUpAfterMs ?? giveUpAfterMs, tell);
  try {
    await untilLocked("another process that migrates the database", () =>
      client.query("select pg_advisory_lock($1)", [advisoryLock]),
    );
    await client.query(
      "create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null)",
    );
    const done = new Map<string, string>(
      (await client.query("select name, checksum from schema_migrations")).rows.map((row) => [
        row.name,
        row.checksum,
      ]),
    );
    const applied: string[] = [];
    for (const migration of options.migrations ?? listMigrations()) {
      const checksum = done.get(migration.name);
      if (checksum === migration.checksum) continue;
      if (checksum !== undefined) {
        throw new MigrationError(
          `migration ${migration.name} was applied with other text than it has now; migrations are never edited, add a new one`,
          null,
        );
      }
      await untilLocked(`a lock that migration ${migration.name} needs`, () => apply(client, migration));
      applied.push(migration.name);
    }
    return applied;
  } finally {
    await endConnection(client);
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("begin");
  try {
    await client.query(migration.text);
    await client.query("insert into schema_migrations (name, checksum, applied_at) values ($1, $2, $3)", [
      migration.name,
      migration.checksum,
      new Date(),
    ]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    if (isLockTimeout(error)) throw error;
    throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}

async function retryForLock<T>(
  what: string,
  attempt: () => Promise<T>,
  limitMs: number,
  tell: Tell,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const waitedSeconds = Math.round((performance.now() - startedAt) / 1000);
      if (performance.now() - startedAt > limitMs) {
        throw new MigrationError(
          `The database could not be migrated: waited ${waitedSeconds} seconds for ${what}. pg_stat_activity and pg_locks show who holds it.`,
          error,
        );
      }
      tell(`waiting for ${what}`, { waitedSeconds });
      await wait(pauseMs);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === "55P03";
}
