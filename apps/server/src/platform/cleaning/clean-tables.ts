import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import type { Core } from "../core.ts";
import { hourMs, secondMs } from "../kernel/clock.ts";
import { sqlState } from "../lib/sql-state.ts";
import {
  cleaningAlone,
  dropOldLog,
  horizonOf,
  noteCleaning,
  readTableStates,
  rewriteTable,
  type TableState,
  vacuumTable,
} from "./cleaning.store.ts";

type Needs = Pick<Core, "config" | "db" | "clock">;

/** Why files cannot be cleaned for now. */
export type CleaningObstacle =
  | "old_transaction"
  | "table_in_use"
  | "took_too_long"
  | "log_in_use"
  | "other_process";

// Transactions of ours are over after moments. With half of it a busy service is taken for a forgotten transaction now and then; doubled, an
// operator hears of one two seconds later.
const shortTransactions = { tries: 20, pauseMs: 100 };
const vacuumMs = hourMs;

/** The embedded database is ours and small, so that it can be written anew. Somebody else's may be large and busy. */
function cleaningMode(config: Core["config"]): "rewrite" | "vacuum" {
  if (config.databaseCleaning !== "auto") return config.databaseCleaning;
  return config.databaseUrl === "" ? "rewrite" : "vacuum";
}

/**
 * Removes from the files of the database what transactions before `goneBefore` deleted: from tables, indexes, samples for the planner and,
 * where the database is ours, the write-ahead log. Null when that is done. After an interruption it goes on with the tables that are
 * left.
 */
export function cleanDeleted(core: Needs, goneBefore: number): Promise<CleaningObstacle | null> {
  const { config, db } = core;
  const rewriteMs = rewriteLimitMs(core);
  return alone(core, async (client) => {
    if (!(await untilNobodyLooksBack(client, goneBefore, rewriteMs))) return "old_transaction";
    const states = await readTableStates(db);
    if (cleaningMode(config) === "vacuum") {
      for (const { table } of states) await vacuumTable(client, table, vacuumMs);
    } else {
      const left = states.filter(({ horizon }) => horizon === null || horizon < goneBefore);
      const obstacle = await rewriteAll(core, client, left, goneBefore);
      if (obstacle !== null) return obstacle;
    }
    if (config.databaseUrl !== "") return null;
    await rewriteTable(client, "pg_catalog.pg_statistic", rewriteMs);
    return (await dropOldLog(client, rewriteMs)) ? null : "log_in_use";
  });
}

function rewriteLimitMs({ config }: Needs): number {
  return config.databaseJobStatementSeconds * secondMs;
}

async function alone(
  { db }: Needs,
  clean: (client: pg.ClientBase) => Promise<CleaningObstacle | null>,
): Promise<CleaningObstacle | null> {
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
): Promise<CleaningObstacle | null> {
  let met: CleaningObstacle | null = null;
  for (const { table } of states) {
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
    await noteCleaning(core.db, { table, horizon }, core.clock.now());
  }
  return met;
}

function obstacleOf(error: unknown): CleaningObstacle | null {
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
