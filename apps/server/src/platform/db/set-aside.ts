import { type Clock, dayMs, later, minuteMs, secondMs } from "../kernel/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { lastOf, sweepInOrder } from "../lib/sweep.ts";
import type { Db, Queryable, Tx } from "./db.ts";
import { isAboutData } from "./errors.ts";
import { failureReason, isolateFailures } from "./isolate-failures.ts";
import {
  claimRetries,
  deleteExpired,
  type Expired,
  isOneOf,
  type KeyType,
  listQuarantined,
  listWaiting,
  notAside,
  putAside,
  removeAside,
  type TakenRow,
  takeExpired,
} from "./set-aside.store.ts";
import { noSql, type Sql, sql } from "./sql.ts";

/**
 * When a row is tried again for the first time; after that the time doubles up to the second number. At half of the first a
 * bug that hits thousands of rows keeps the jobs busy with them, at twice as much a repaired row waits longer than anybody
 * watches. At half of the second a row that nobody ever repairs costs twice as much, at twice as much a release that
 * mends it shows for days as if it had not.
 */
export const firstRetryMs = 10 * minuteMs;
export const lastRetryMs = dayMs;
/** So many at a time, each in a transaction of its own, so that ordinary work is not kept waiting by them. */
const retriesAtOnce = 20;
/** How long another process leaves a row alone that one is trying again. */
const retryLeaseMs = firstRetryMs;

/**
 * How long a process goes by what it knows of the table. A row that another process sets aside is due after `firstRetryMs` at the earliest. Too
 * small, and idle processes ask all the time; too large, and such a row is retried that much later.
 */
const lookAgainMs = 15 * secondMs;

/** Which rows a batch may take. */
export type Among = {
  /** Rows with a higher key; empty for all. */
  after: string;
  limit: number;
  /** Whether the rows were set aside before; what they were leased or postponed for counts no more then. */
  isRetry: boolean;
  where: (key: Sql, type: KeyType) => Sql;
  /** Locks the rows and skips those that another process holds; empty for a look, which must not keep another process from its rows. */
  lock: Sql;
};

const lock = sql`for update skip locked`;

export type Steps<T extends TakenRow> = {
  /**
   * Locks rows that are due, as `lock` says. It must not fail because of what is in a row. It is also asked for one row outside of a transaction and
   * without a lock, so that a job with nothing to do opens none.
   */
  take: (db: Queryable, among: Among) => Promise<T[]>;
  /** Deals with all of the rows in the same transaction or, where it throws, with none. */
  handle: (tx: Tx, rows: readonly T[]) => Promise<unknown>;
};

type Deps = { db: Db; clock: Clock; log: Log; metrics: Metrics };

/**
 * Rows that a background job cannot deal with (poison messages) are set aside, so that they do not keep the others waiting,
 * and tried again now and then. Only failures that are about the data count.
 */
export class SetAside {
  readonly #deps: Deps;
  readonly #quarantine: Quarantine;
  readonly #count: (labels: { job: string }) => void;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#quarantine = new Quarantine(deps);
    this.#count = deps.metrics.counter(
      "assay_job_rows_set_aside_total",
      "Rows that a background job could not deal with and set aside.",
    );
  }

  /** The rows of a table (`kind`) as one job sees them. */
  rowsOf(job: string, kind: string): JobRows {
    return new JobRows(this.#deps, this.#quarantine, this.#count, { job, kind });
  }

  /** Somebody else has changed which rows are to be tried again. */
  lookAgain(): void {
    this.#quarantine.lookAgain();
  }

  /** Deletes a batch of rows that are past their time; returns how many there were. */
  purge(job: string, expired: Expired, limit: number): Promise<number> {
    return this.rowsOf(job, expired.table).run(limit, {
      take: (tx, among) => takeExpired(tx, expired, among),
      handle: (tx, rows) =>
        deleteExpired(
          tx,
          expired,
          rows.map((row) => row.id),
        ),
    });
  }
}

type RowsOf = { job: string; kind: string };

/** Which jobs have rows that are set aside: read once for all jobs, and again as soon as this process sets one aside. */
class Quarantine {
  readonly #deps: Pick<Deps, "db" | "clock">;
  #look: { at: number; found: Promise<RowsOf[]> } | null = null;

  constructor(deps: Pick<Deps, "db" | "clock">) {
    this.#deps = deps;
  }

  async has({ job, kind }: RowsOf): Promise<boolean> {
    const now = this.#deps.clock.now().getTime();
    if (this.#look === null || Math.abs(now - this.#look.at) >= lookAgainMs)
      this.#look = { at: now, found: listQuarantined(this.#deps.db) };
    const look = this.#look;
    try {
      return (await look.found).some((rows) => rows.job === job && rows.kind === kind);
    } catch (error) {
      if (this.#look === look) this.#look = null;
      throw error;
    }
  }

  lookAgain(): void {
    this.#look = null;
  }
}

export class JobRows {
  readonly #deps: Deps;
  readonly #quarantine: Quarantine;
  readonly #count: (labels: { job: string }) => void;
  readonly #of: RowsOf;

  constructor(deps: Deps, quarantine: Quarantine, count: (labels: { job: string }) => void, of: RowsOf) {
    this.#deps = deps;
    this.#quarantine = quarantine;
    this.#count = count;
    this.#of = of;
  }

  /** Whether rows of this job are set aside. */
  hasAny(): Promise<boolean> {
    return this.#quarantine.has(this.#of);
  }

  /** What is to be tried again, then a batch of the others. Returns how many rows were dealt with or set aside. */
  run<T extends TakenRow>(limit: number, steps: Steps<T>): Promise<number> {
    return this.#withRetries(steps, async () => (await this.batch(limit, steps)).taken.length);
  }

  /** The same for rows in the order of their key, each batch after the one before. */
  sweep<T extends TakenRow>(limit: number, steps: Steps<T>): () => Promise<number> {
    const next = sweepInOrder(limit, async (after) => {
      const { taken } = await this.batch(limit, steps, after);
      return { handled: taken.length, lastKey: lastOf(taken) };
    });
    return () => this.#withRetries(steps, next);
  }

  /** Again as long as rows heal: then all are tried at once, with a batch of the others after every few of them. */
  async #withRetries<T extends TakenRow>(steps: Steps<T>, batch: () => Promise<number>): Promise<number> {
    let handled = 0;
    for (;;) {
      const healed = await this.retry((id) => this.again(id, steps));
      handled += healed + (await batch());
      if (healed === 0) return handled;
    }
  }

  /**
   * A batch of rows in one transaction. When it fails it is halved until the bad row is alone. `taken` are all of its rows,
   * `done` those that were dealt with.
   */
  async batch<T extends TakenRow>(
    limit: number,
    steps: Steps<T>,
    after = "",
  ): Promise<{ taken: readonly T[]; done: readonly T[] }> {
    const { job, kind } = this.#of;
    const now = this.#deps.clock.now();
    const where = (key: Sql, type: KeyType) => notAside(job, kind, key, type, now);
    const due = await steps.take(this.#deps.db, { after, limit: 1, isRetry: false, where, lock: noSql });
    let taken: readonly T[] = [];
    if (due.length === 0) return { taken, done: taken };
    try {
      await this.#deps.db.transaction(async (tx) => {
        taken = [];
        taken = await steps.take(tx, { after, limit, isRetry: false, where, lock });
        if (taken.length > 0) await steps.handle(tx, taken);
      });
      return { taken, done: taken };
    } catch (error) {
      if (taken.length === 0 || !isAboutData(error)) throw error;
    }
    const done: T[] = [];
    await this.isolate(taken, async (some) => {
      done.push(
        ...(await this.#only(
          some.map((row) => row.id),
          false,
          steps,
        )),
      );
    });
    return { taken, done };
  }

  /** Tries one row again that was set aside, whenever it was due. Nothing where it is gone or has been dealt with. */
  again<T extends TakenRow>(id: string, steps: Steps<T>): Promise<readonly T[]> {
    return this.#only([id], true, steps);
  }

  #only<T extends TakenRow>(
    ids: readonly string[],
    isRetry: boolean,
    steps: Steps<T>,
  ): Promise<readonly T[]> {
    return this.#deps.db.transaction(async (tx) => {
      const where = (key: Sql, type: KeyType) => isOneOf(ids, key, type);
      const rows = await steps.take(tx, { after: "", limit: ids.length, isRetry, where, lock });
      if (rows.length > 0) await steps.handle(tx, rows);
      return rows;
    });
  }

  /** `process` deals with all of the rows or, where it throws, with none. Those that fail alone are set aside. */
  isolate<T extends TakenRow>(
    rows: readonly T[],
    process: (some: readonly T[]) => Promise<unknown>,
  ): Promise<void> {
    return isolateFailures(rows, { process, setAside: (row, error) => this.setAside(row, error) });
  }

  /** Work on one row; when it fails because of the row, that is set aside. False then. */
  async guard(row: TakenRow, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!isAboutData(error)) throw error;
      await this.setAside(row, error);
      return false;
    }
  }

  /** Tries what was set aside again, where its time has come; returns how many rows it is over for. */
  async retry(work: (id: string) => Promise<unknown>): Promise<number> {
    if (!(await this.hasAny())) return 0;
    const { db, clock } = this.#deps;
    const now = clock.now();
    let healed = 0;
    for (const id of await claimRetries(db, this.#of, now, later(now, retryLeaseMs), retriesAtOnce)) {
      if (!(await this.guard({ id }, () => work(id)))) continue;
      await removeAside(db, this.#of, id);
      this.tellHealed(id);
      healed += 1;
    }
    return healed;
  }

  /** Those of the rows that are set aside and not to be tried yet. */
  waiting(ids: readonly string[]): Promise<string[]> {
    return listWaiting(this.#deps.db, this.#of, ids, this.#deps.clock.now());
  }

  async setAside(row: TakenRow, error: unknown): Promise<void> {
    const { db, clock, log } = this.#deps;
    const reason = failureReason(error);
    const tries = await putAside(db, {
      ...this.#of,
      rowId: row.id,
      organizationId: row.organizationId ?? null,
      reason,
      now: clock.now(),
      firstRetryMs,
      lastRetryMs,
    });
    this.#quarantine.lookAgain();
    if (tries > 1) return;
    this.#count({ job: this.#of.job });
    log.warn("a row cannot be dealt with and was set aside, the job goes on without it", {
      ...this.#of,
      rowId: row.id,
      reason,
    });
  }

  tellHealed(id: string): void {
    this.#deps.log.info("a row that was set aside is dealt with", { ...this.#of, rowId: id });
  }
}
