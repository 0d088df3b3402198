import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import type { Core } from "../core.ts";
import { hourMs, later, secondMs } from "../kernel/clock.ts";
import { sqlState } from "../lib/sql-state.ts";
import {
  cleaningAlone,
  dropOldLog,
  horizonOf,
  nextTransaction,
  noteCleaning,
  readTableStates,
  rewriteTable,
  type TableState,
  vacuumTable,
} from "./cleaning.store.ts";

type Needs = Pick<Core, "config" | "db" | "clock">;

/** Why files cannot be cleaned for now. */
export type Obstacle = "old_transaction" | "table_in_use" | "took_too_long" | "log_in_use" | "other_process";

// A rewrite of `sessions` on two cores under a load of 27 took 2.6 s for 54 MiB and 12 s for 212 MiB. So a table of the first size is
// rewritten every hour at most, a bigger one less often, and one beyond the limit, where requests could run into
// DATABASE_LOCK_SECONDS, for the sake of a deleted organization only. Half of the limit would leave bytes in tables whose
// rewrite nobody notices; double, and the routine is felt.
const bytesEachHour = 32 * 2 ** 20;
const largestRoutineBytes = 128 * 2 ** 20;
// Transactions of ours are over after moments. With half of it a busy service is taken for a forgotten transaction now and then; doubled, an
// operator hears of one two seconds later.
const shortTransactions = { tries: 20, pauseMs: 100 };
const vacuumMs = hourMs;

/** The embedded database is ours and small, so that it can be written anew. Somebody else's may be large and busy. */
export function cleaningMode({ config }: Pick<Core, "config">): "rewrite" | "vacuum" {
  if (config.databaseCleaning !== "auto") return config.databaseCleaning;
  return config.databaseUrl === "" ? "rewrite" : "vacuum";
}

/**
 * Removes from the files of the database what transactions before `goneBefore` deleted: from tables, indexes, samples for the planner and,
 * where the database is ours, the write-ahead log. Null when that is done. After an interruption it goes on with the tables that are
 * left.
 */
export function cleanDeleted(core: Needs, goneBefore: number): Promise<Obstacle | null> {
  const { config, db } = core;
  const rewriteMs = rewriteLimitMs(core);
  return alone(core, async (client) => {
    if (!(await untilNobodyLooksBack(client, goneBefore, rewriteMs))) return "old_transaction";
    const states = await readTableStates(db);
    if (cleaningMode(core) === "vacuum") {
      for (const { table_name: table } of states) await vacuumTable(client, table, vacuumMs);
    } else {
      const left = states.filter(({ cleaned_horizon: done }) => done === null || done < goneBefore);
      const obstacle = await rewriteAll(core, client, left, goneBefore);
      if (obstacle !== null) return obstacle;
    }
    if (config.databaseUrl !== "") return null;
    await rewriteTable(client, "pg_catalog.pg_statistic", rewriteMs);
    return (await dropOldLog(client, rewriteMs)) ? null : "log_in_use";
  });
}

/**
 * Removes what retention, withdrawals and single deletions have left in the files, every hour or few, and only where something
 * changed. Somebody else's database is left to its own autovacuum. Gives the obstacle that kept something from being cleaned.
 */
export async function cleanRoutinely(core: Needs): Promise<Obstacle | null> {
  if (cleaningMode(core) !== "rewrite") return null;
  const { config, db, clock } = core;
  const now = clock.now();
  const due = (await readTableStates(db)).filter((state) => isDue(state, now));
  if (due.length === 0) return null;
  return alone(core, async (client) => {
    const goneBefore = await nextTransaction(client);
    if (!(await untilNobodyLooksBack(client, goneBefore, rewriteLimitMs(core)))) return "old_transaction";
    const obstacle = await rewriteAll(core, client, due, goneBefore);
    if (obstacle !== null || config.databaseUrl !== "") return obstacle;
    return (await dropOldLog(client, rewriteLimitMs(core))) ? null : "log_in_use";
  });
}

function isDue({ changes, cleaned_changes: counted, cleaned_at: at, bytes }: TableState, now: Date): boolean {
  if (changes === (counted ?? 0) || bytes > largestRoutineBytes) return false;
  return at === null || later(at, hourMs * Math.max(1, Math.ceil(bytes / bytesEachHour))) <= now;
}

function rewriteLimitMs({ config }: Needs): number {
  return config.databaseJobStatementSeconds * secondMs;
}

async function alone(
  { db }: Needs,
  clean: (client: pg.ClientBase) => Promise<Obstacle | null>,
): Promise<Obstacle | null> {
  try {
    return await db.withConnection(async (client) => {
      const cleaned = await cleaningAlone(client, async () => ({ obstacle: await clean(client) }));
      return cleaned === null ? "other_process" : cleaned.obstacle;
    });
  } catch (error) {
    const obstacle = obstacleOf(error);
    if (obstacle === null) throw error;
    return obstacle;
  }
}

/** A table that others use all the time is stepped over, so that the rest is clean when it is tried again. */
async function rewriteAll(
  core: Needs,
  client: pg.ClientBase,
  states: readonly TableState[],
  goneBefore: number,
): Promise<Obstacle | null> {
  let met: Obstacle | null = null;
  for (const { table_name: table, changes } of states) {
    try {
      await rewriteTable(client, table, rewriteLimitMs(core));
    } catch (error) {
      const obstacle = obstacleOf(error);
      if (obstacle === null) throw error;
      met = obstacle;
      continue;
    }
    const horizon = await horizonOf(client, table);
    if (horizon < goneBefore) return "old_transaction";
    await noteCleaning(core.db, { table, horizon, changes }, core.clock.now());
  }
  return met;
}

function obstacleOf(error: unknown): Obstacle | null {
  switch (sqlState(error)) {
    // 42P01: a part of a table was dropped meanwhile.
    case "55P03":
    case "42P01":
      return "table_in_use";
    case "57014":
      return "took_too_long";
    default:
      return null;
  }
}

/**
 * Rewrites the smallest table until that shows that no transaction is left which began before `goneBefore` and could still look at what
 * was deleted: PostgreSQL keeps that for it, in a rewrite too. The rewrite is the one measure that every role can take.
 */
async function untilNobodyLooksBack(
  client: pg.ClientBase,
  goneBefore: number,
  statementMs: number,
): Promise<boolean> {
  for (let tried = 1; ; tried++) {
    await rewriteTable(client, "deletion_receipts", statementMs);
    if ((await horizonOf(client, "deletion_receipts")) >= goneBefore) return true;
    if (tried === shortTransactions.tries) return false;
    await wait(shortTransactions.pauseMs);
  }
}
