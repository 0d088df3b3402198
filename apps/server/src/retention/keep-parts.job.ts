import type pg from "pg";
import type { Core } from "../core.ts";
import {
  bytesOf,
  changingPartsAlone,
  divideTable,
  dropDueChecks,
  dropEmptyPart,
  dropParts,
  listParts,
  makePart,
  newestInRest,
  readKnownParts,
} from "../db/parts.store.ts";
import { endOf, listCutter, missingParts, type Part, widthFor } from "../db/parts.ts";
import { dayMs, later, minuteMs, secondMs } from "../kernel/clock.ts";
import { describeError } from "../lib/log.ts";
import { sqlState } from "../lib/sql-state.ts";
import {
  closeToOlderCode,
  type DatedPart,
  type GrowingTable,
  growingTable,
  growingTables,
  isClosedToOlderCode,
  isOver,
  listOlderProcesses,
} from "./divided-tables.store.ts";

/**
 * From this size on it costs more to delete the rows of a day than to look into a part for each day. Half of it, and installations that need no parts get them;
 * doubled, and the first day to be deleted takes twice as long, once.
 */
const largeBytes = 2 ** 30;
const batchSize = 2_000;
/** Each transaction waits for the disk, and others wait for the table meanwhile, 5 ms for a part. Half of it, and the end of a month in weeks takes twice as many; doubled, and others wait for 80 ms. */
const droppedAtOnce = 8;
/** A process that has been silent for so long is gone. */
const goneAfterMs = 2 * minuteMs;

type Needs = Pick<Core, "config" | "db" | "clock" | "log" | "metrics">;
type Watched = Pick<Core, "config" | "db" | "reads" | "clock" | "log">;

/**
 * Divides tables that have grown, makes parts ahead of time and drops those whose time is over. Each step is a short transaction of its own, and any process goes on
 * where another one was interrupted. What cannot have its lock now is tried again with the next run.
 */
export function keepParts(core: Needs): () => Promise<number> {
  const { db, clock, log, metrics } = core;
  const showAhead = metrics.gauge(
    "assay_parts_ahead_seconds",
    "For how long from now on rows find a part of their table that is meant for them.",
  );
  // A process of an older release that was about to start when the database was closed to it reports itself within seconds. The next run is minutes later.
  let mayDivide = false;
  return async () => {
    await db.withConnection((client) =>
      changingPartsAlone(client, async () => {
        for (const table of growingTables) {
          try {
            await keepTable(core, client, table, mayDivide);
          } catch (error) {
            if (!isInTheWay(error)) throw error;
            log.debug("the parts of a table could not be changed for now", {
              table: table.table,
              ...describeError(error),
            });
          }
        }
      }),
    );
    mayDivide = await isClosedToOlderCode(db);
    for (const { table } of growingTables) {
      const end = endOf((await listParts(db, table)) ?? []);
      if (end !== null) showAhead((end.getTime() - clock.now().getTime()) / secondMs, { table });
    }
    return 0;
  };
}

/** A lock that was not free in time, a statement that took too long, a deadlock. */
function isInTheWay(error: unknown): boolean {
  return ["55P03", "57014", "40P01"].includes(sqlState(error) ?? "");
}

async function keepTable(
  core: Needs,
  client: pg.ClientBase,
  table: GrowingTable,
  mayDivide: boolean,
): Promise<void> {
  const { config, db, clock } = core;
  const statementMs = config.databaseJobStatementSeconds * secondMs;
  if ((await listParts(db, table.table)) === null) {
    if (!(await isToBeDivided(core, table, mayDivide))) return;
    await divideTable(client, table, table.alsoInParts, clock.now(), statementMs);
    core.log.info("a table is kept in parts from now on", { table: table.table });
  }
  const width = widthFor(table.keptDays(config));
  const parts = (await listParts(db, table.table)) ?? [];
  for (const missing of missingParts(parts, await newestInRest(db, table), width, clock.now()))
    await makePart(client, table, missing, statementMs);
  const due = parts.filter((part) => isOver(table, part, config, clock.now()));
  const over: DatedPart[] = [];
  for (const part of await withoutSessions(core, table, due)) {
    if (part.kind === "dated") over.push(part);
    else await dropEmptyPart(client, table, part, statementMs);
  }
  for (let at = 0; at < over.length; at += droppedAtOnce)
    await dropWhole(core, client, table, over.slice(at, at + droppedAtOnce), statementMs);
}

async function isToBeDivided(
  { config, db, clock, log }: Needs,
  { table, group }: GrowingTable,
  mayDivide: boolean,
): Promise<boolean> {
  if (config.databaseParts === "off") return false;
  if (config.databaseParts === "large" && (await listParts(db, group)) === null)
    if ((await bytesOf(db, group)) < largeBytes) return false;
  const older = await listOlderProcesses(db, later(clock.now(), -goneAfterMs));
  if (older.length > 0) {
    log.info("a table is not divided while processes of an older release run", {
      table,
      processes: older.join(", "),
    });
    return false;
  }
  if (mayDivide) return true;
  if (!(await isClosedToOlderCode(db))) {
    await closeToOlderCode(db);
    log.info(
      "tables are about to be divided: releases before this one cannot be started on this database any more",
    );
  }
  return false;
}

/**
 * For every process, at its start and then as a job. Where the one that was dividing a table is gone, the others see to it that the table goes on taking rows; and once tables
 * are divided, statements are planned once, and lists are read part by part.
 */
export async function watchParts({ config, db, reads, clock, log }: Watched): Promise<number> {
  try {
    const statementMs = config.databaseJobStatementSeconds * secondMs;
    for (const table of await dropDueChecks(db, growingTables, clock.now(), statementMs))
      log.warn("a table was left half divided, and is in one piece again", { table });
  } catch (error) {
    if (!isInTheWay(error)) throw error;
    log.debug("a table that was left half divided is in use, and is tried again", describeError(error));
  }
  const known = await readKnownParts(db, growingTables, clock.now());
  if (known.size === 0) return 0;
  const cutList = listCutter(known, clock);
  db.heedParts(cutList);
  reads.heedParts(cutList);
  // Releases from before `least_code` do not ask whether they may start.
  const older = await listOlderProcesses(db, later(clock.now(), -goneAfterMs));
  if (older.length > 0)
    log.error(
      "processes of an older release run beside tables in parts, where they can delete what is not theirs: end them",
      {
        processes: older.join(", "),
      },
    );
  return 0;
}

/** What belongs to sessions stays for as long as theirs do. */
async function withoutSessions({ db }: Needs, table: GrowingTable, parts: readonly Part[]): Promise<Part[]> {
  if (table.group !== "sessions" || table.table === "sessions" || parts.length === 0) return [...parts];
  const sessions = (await listParts(db, growingTable("sessions").table)) ?? [];
  return parts.filter(
    (part) => part.kind !== "rest" && !sessions.some((each) => each.kind === "dated" && each.from < part.to),
  );
}

async function dropWhole(
  { db, config, clock, log }: Needs,
  client: pg.ClientBase,
  table: GrowingTable,
  parts: readonly DatedPart[],
  statementMs: number,
): Promise<void> {
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined) return;
  const period = { from: first.from, to: last.to };
  for (;;) {
    let deleted = 0;
    for (const statement of table.beside(period, batchSize)) deleted += await db.run(statement);
    if (deleted === 0) break;
  }
  const now = clock.now();
  const cutoff = later(now, -table.keptDays(config) * dayMs);
  const settled = parts.map((part) => ({ name: part.name, settle: table.settle(part, cutoff, now) }));
  await dropParts(client, table, settled, statementMs);
  for (const statement of table.afterwards(period)) await db.run(statement);
  for (const part of parts)
    log.info("a part of a table is past its time and was dropped", { table: part.name });
}
