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
  listJobsWithRows,
  listWaiting,
  notQuarantined,
  quarantineRow,
  releaseRow,
  type TakenRow,
  takeExpired,
} from "./quarantine.store.ts";
import { noSql, type Sql, sql } from "./sql.ts";

/**
 * The time to the first retry, which doubles up to the second number. With half of the first, a bug that hits
 * thousands of rows keeps the jobs busy; with twice, a repaired row waits too long. With half of the second,
 * a row that is never repaired costs twice as much.
 */
export const firstRetryMs = 10 * minuteMs;
export const lastRetryMs = dayMs;
/** Retries per run, each in its own transaction, so that they do not delay ordinary work. */
const retriesAtOnce = 20;
/** How long other processes leave a row alone that one process retries. */
const retryLeaseMs = firstRetryMs;

/**
 * How long a process relies on its last read of the table. A row that another process quarantines is due
 * after `firstRetryMs` at the earliest. Smaller makes idle processes query all the time, larger delays such a
 * retry.
 */
const lookAgainMs = 15 * secondMs;

export type Among = {
  /** Only rows with a higher key; empty for all. */
  after: string;
  limit: number;
  /** Whether the rows were quarantined; then their lease or delay no longer applies. */
  isRetry: boolean;
  where: (key: Sql, type: KeyType) => Sql;
  /**
   * Locks the rows and skips those that another process holds. Empty for a check, which must not lock rows.
   */
  lock: Sql;
};

const lock = sql`for update skip locked`;

export type Steps<T extends TakenRow> = {
  /**
   * Locks due rows, as `lock` says. It must not fail because of the content of a row. It is also called for
   * one row outside of a transaction and without a lock, so that a job with nothing to do opens none.
   */
  take: (db: Queryable, among: Among) => Promise<T[]>;
  /** Processes all rows in the same transaction; if it throws, none. */
  handle: (tx: Tx, rows: readonly T[]) => Promise<unknown>;
};

type Deps = { db: Db; clock: Clock; log: Log; metrics: Metrics };

/**
 * Quarantines rows that a background job cannot process (poison messages), so that they do not block the
 * others, and retries them from time to time. Only failures caused by the data count.
 */
export class Quarantine {
  readonly #deps: Deps;
  readonly #index: QuarantineIndex;
  readonly #count: (labels: { job: string }) => void;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#index = new QuarantineIndex(deps);
    this.#count = deps.metrics.counter(
      "assay_job_rows_set_aside_total",
      "Rows that a background job could not process and quarantined.",
    );
  }

  /** The rows of a table (`kind`), from the view of one job. */
  rowsOf(job: string, kind: string): JobRows {
    return new JobRows(this.#deps, this.#index, this.#count, { job, kind });
  }

  /** Another process or command has changed which rows are due for a retry. */
  invalidate(): void {
    this.#index.invalidate();
  }

  /** Deletes a batch of expired rows; returns their number. */
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

/**
 * The jobs that have quarantined rows: read once for all jobs, and again as soon as this process quarantines
 * a row.
 */
class QuarantineIndex {
  readonly #deps: Pick<Deps, "db" | "clock">;
  #look: { at: number; found: Promise<RowsOf[]> } | null = null;

  constructor(deps: Pick<Deps, "db" | "clock">) {
    this.#deps = deps;
  }

  async has({ job, kind }: RowsOf): Promise<boolean> {
    const now = this.#deps.clock.now().getTime();
    if (this.#look === null || Math.abs(now - this.#look.at) >= lookAgainMs)
      this.#look = { at: now, found: listJobsWithRows(this.#deps.db) };
    const look = this.#look;
    try {
      return (await look.found).some((rows) => rows.job === job && rows.kind === kind);
    } catch (error) {
      if (this.#look === look) this.#look = null;
      throw error;
    }
  }

  invalidate(): void {
    this.#look = null;
  }
}

export class JobRows {
  readonly #deps: Deps;
  readonly #index: QuarantineIndex;
  readonly #count: (labels: { job: string }) => void;
  readonly #of: RowsOf;

  constructor(deps: Deps, index: QuarantineIndex, count: (labels: { job: string }) => void, of: RowsOf) {
    this.#deps = deps;
    this.#index = index;
    this.#count = count;
    this.#of = of;
  }

  hasAny(): Promise<boolean> {
    return this.#index.has(this.#of);
  }

  /**
   * Retries due rows, then takes a batch of others. Returns the number of rows that were processed or
   * quarantined.
   */
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

  /**
   * Repeats while retries succeed: then all are retried at once, with a batch of other rows after every few
   * of them.
   */
  async #withRetries<T extends TakenRow>(steps: Steps<T>, batch: () => Promise<number>): Promise<number> {
    let handled = 0;
    for (;;) {
      const healed = await this.retry((id) => this.again(id, steps));
      handled += healed + (await batch());
      if (healed === 0) return handled;
    }
  }

  /**
   * A batch of rows in one transaction. If it fails, it is halved until the bad row is alone. `taken` has all
   * of its rows, `done` those that were processed.
   */
  async batch<T extends TakenRow>(
    limit: number,
    steps: Steps<T>,
    after = "",
  ): Promise<{ taken: readonly T[]; done: readonly T[] }> {
    const { job, kind } = this.#of;
    const now = this.#deps.clock.now();
    const where = (key: Sql, type: KeyType) => notQuarantined(job, kind, key, type, now);
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

  /**
   * Retries one quarantined row, regardless of its time. Returns nothing if it is deleted or already
   * processed.
   */
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

  /** `process` handles all rows or, if it throws, none. Rows that fail alone are quarantined. */
  isolate<T extends TakenRow>(
    rows: readonly T[],
    process: (some: readonly T[]) => Promise<unknown>,
  ): Promise<void> {
    return isolateFailures(rows, { process, quarantine: (row, error) => this.quarantine(row, error) });
  }

  /** Works on one row, and quarantines it if it causes a failure. Returns false then. */
  async guard(row: TakenRow, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!isAboutData(error)) throw error;
      await this.quarantine(row, error);
      return false;
    }
  }

  /** Retries quarantined rows that are due; returns the number of rows that left the quarantine. */
  async retry(work: (id: string) => Promise<unknown>): Promise<number> {
    if (!(await this.hasAny())) return 0;
    const { db, clock } = this.#deps;
    const now = clock.now();
    let healed = 0;
    for (const id of await claimRetries(db, this.#of, now, later(now, retryLeaseMs), retriesAtOnce)) {
      if (!(await this.guard({ id }, () => work(id)))) continue;
      await releaseRow(db, this.#of, id);
      this.tellHealed(id);
      healed += 1;
    }
    return healed;
  }

  /** Those of the rows that are quarantined and not due for a retry. */
  waiting(ids: readonly string[]): Promise<string[]> {
    return listWaiting(this.#deps.db, this.#of, ids, this.#deps.clock.now());
  }

  async quarantine(row: TakenRow, error: unknown): Promise<void> {
    const { db, clock, log } = this.#deps;
    const reason = failureReason(error);
    const tries = await quarantineRow(db, {
      ...this.#of,
      rowId: row.id,
      organizationId: row.organizationId ?? null,
      reason,
      now: clock.now(),
      firstRetryMs,
      lastRetryMs,
    });
    this.#index.invalidate();
    if (tries > 1) return;
    this.#count({ job: this.#of.job });
    log.warn("a row cannot be processed and was quarantined; the job continues without it", {
      ...this.#of,
      rowId: row.id,
      reason,
    });
  }

  tellHealed(id: string): void {
    this.#deps.log.info("a quarantined row was processed", { ...this.#of, rowId: id });
  }
}
