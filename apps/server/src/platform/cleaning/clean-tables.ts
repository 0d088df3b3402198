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

/** Why the files cannot be cleaned at the moment. */
export type CleaningObstacle =
  | "old_transaction"
  | "table_in_use"
  | "took_too_long"
  | "log_in_use"
  | "other_process";

// Our transactions are short. With half of this time, a busy service is sometimes mistaken for a forgotten
// transaction. With twice, an operator is informed two seconds later.
const shortTransactions = { tries: 20, pauseMs: 100 };
const vacuumMs = hourMs;

/** The embedded database is small, so it can be rewritten. An external one may be large and busy. */
function cleaningMode(config: Core["config"]): "rewrite" | "vacuum" {
  if (config.databaseCleaning !== "auto") return config.databaseCleaning;
  return config.databaseUrl === "" ? "rewrite" : "vacuum";
}

/**
 * Removes what transactions before `goneBefore` deleted from the files of the database, including indexes,
 * planner statistics and the write-ahead log of an embedded one. Returns null when done. After an
 * interruption it continues with the remaining tables.
 */
export function cleanDeleted(core: Needs, goneBefore: number): Promise<CleaningObstacle | null> {
  const { config, db } = core;
  const rewriteMs = rewriteLimitMs(core);
  return alone(core, async (client) => {
    if (!(await untilOldTransactionsEnd(client, goneBefore, rewriteMs))) return "old_transaction";
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

/** Skips a busy table, so that the others are already clean at the next attempt. */
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
    // 42P01: a partition was dropped meanwhile.
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
 * Rewrites the smallest table until this proves that no transaction from before `goneBefore` is left:
 * PostgreSQL keeps deleted rows for such a transaction, even in a rewrite. Every role may run this check.
 */
async function untilOldTransactionsEnd(
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
