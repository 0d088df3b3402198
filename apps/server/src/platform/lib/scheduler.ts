import type { Clock } from "../kernel/clock.ts";
import { describeError, type Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Tracer } from "./tracer.ts";

/**
 * Background work. `run` processes one small batch and returns the number of items. It is called again at
 * once until it returns less than `batchSize`, so it works off any backlog. It must be idempotent and safe to
 * run in several processes at the same time.
 */
export type Job = {
  name: string;
  everyMs: number;
  run: () => Promise<number>;
  /**
   * Maximum number of items of one call; default 1. Needed if items arrive continuously: otherwise each call
   * would handle the few that came during the last one, and never end.
   */
  batchSize?: number;
  /** One process runs it for all in each interval, however often processes start. */
  isShared?: boolean;
};

/**
 * Jobs first run this soon after the start, so that a process with a short life does what is due. With half,
 * all run while the first requests arrive. With twice, a short-lived process does less.
 */
const firstRunWithinMs = 5_000;

type Needs = {
  log: Log;
  clock: Clock;
  metrics: Metrics;
  tracer: Tracer | null;
  /** Whether this process should run a shared job now. */
  claim: (job: Job) => Promise<boolean>;
  /** For tests: null runs nothing before its interval has passed. */
  firstRunWithinMs: number | null | undefined;
};

/** The record of a job in this process. */
export type JobRun = {
  name: string;
  everyMs: number;
  runningSince: Date | null;
  /** When the job last finished all work. */
  lastEndedAt: Date | null;
  lastFailedAt: Date | null;
};

export class Scheduler {
  readonly #jobs: ReadonlyMap<string, { job: Job; record: JobRun }>;
  readonly #needs: Needs;
  readonly #count: (labels: { job: string }, by: number) => void;
  readonly #fail: (labels: { job: string }) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #resting = new Set<string>();
  #stopped = false;

  constructor(jobs: readonly Job[], needs: Needs) {
    const { metrics } = needs;
    this.#needs = needs;
    const fresh = { runningSince: null, lastEndedAt: null, lastFailedAt: null };
    this.#jobs = new Map(
      jobs.map((job) => [job.name, { job, record: { name: job.name, everyMs: job.everyMs, ...fresh } }]),
    );
    this.#count = metrics.counter("assay_job_items_total", "Items that background jobs have processed.");
    this.#fail = metrics.counter(
      "assay_job_failures_total",
      "Failed runs of background jobs, which will be repeated.",
    );
  }

  get runs(): readonly Readonly<JobRun>[] {
    return [...this.#jobs.values()].map(({ record }) => record);
  }

  start(): void {
    const { firstRunWithinMs: soon = firstRunWithinMs } = this.#needs;
    for (const { job } of this.#jobs.values())
      this.#later(job, soon === null ? job.everyMs : Math.min(job.everyMs, soon * Math.random()));
  }

  #later(job: Job, afterMs = job.everyMs): void {
    if (this.#stopped || this.#resting.has(job.name)) return;
    // A tenth of jitter, so that processes that start together do not stay synchronized.
    const timer = setTimeout(() => void this.#tick(job), afterMs * (0.95 + Math.random() / 10));
    timer.unref();
    this.#timers.set(job.name, timer);
  }

  async #tick(job: Job): Promise<void> {
    try {
      if (job.isShared !== true || (await this.#needs.claim(job))) await this.run(job.name);
      // For operators, a run by another process counts.
      else this.#find(job.name).record.lastEndedAt = this.#needs.clock.now();
    } catch (error) {
      this.#fail({ job: job.name });
      this.#needs.log.warn("background job failed, will run again", {
        job: job.name,
        ...describeError(error),
      });
    }
    this.#later(job);
  }

  #find(name: string): { job: Job; record: JobRun } {
    const found = this.#jobs.get(name);
    if (found === undefined) throw new Error(`there is no job "${name}"`);
    return found;
  }

  /** Runs a job until nothing is left to do. Concurrent calls share one run. */
  async run(name: string): Promise<void> {
    const found = this.#find(name);
    const running = this.#running.get(name);
    if (running !== undefined) {
      await running;
      // The shared run may have read the data before our caller's change, so run once more.
      return this.run(name);
    }
    const work = this.#note(found).finally(() => this.#running.delete(name));
    this.#running.set(name, work);
    return work;
  }

  async #note({ job, record }: { job: Job; record: JobRun }): Promise<void> {
    const { clock } = this.#needs;
    record.runningSince = clock.now();
    try {
      await this.#drain(job);
      record.lastEndedAt = clock.now();
    } catch (error) {
      record.lastFailedAt = clock.now();
      throw error;
    } finally {
      record.runningSince = null;
    }
  }

  async #drain(job: Job): Promise<void> {
    while (!this.#stopped && !this.#resting.has(job.name)) {
      const done = await this.#runTraced(job);
      if (done > 0) this.#count({ job: job.name }, done);
      if (done < (job.batchSize ?? 1)) return;
    }
  }

  /** Most runs find nothing to do, and their traces are dropped. */
  #runTraced(job: Job): Promise<number> {
    const { tracer } = this.#needs;
    if (tracer === null) return job.run();
    const attributes = { "assay.job": job.name };
    return tracer.root(
      `job ${job.name}`,
      "internal",
      attributes,
      async (span) => {
        const done = await job.run();
        span?.set({ "assay.items": done });
        return done;
      },
      (done) => done > 0,
    );
  }

  /** Waits for the current batches of these jobs, and starts no more. */
  async rest(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#resting.add(name);
      clearTimeout(this.#timers.get(name));
    }
    await Promise.allSettled(names.map((name) => this.#running.get(name)));
  }

  /** Waits for current batches, and starts nothing more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#running.values());
  }
}
