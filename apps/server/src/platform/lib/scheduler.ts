import type { Clock } from "../kernel/clock.ts";
import { describeError, type Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Tracer } from "./tracer.ts";

/**
 * Background work. `run` does one small batch and returns how many items it handled; it is called again at once until
 * it returns less than `batchSize`, so a backlog of any size is worked off. It must be idempotent and safe to run in
 * several processes at the same time.
 */
export type Job = {
  name: string;
  everyMs: number;
  run: () => Promise<number>;
  /**
   * The most that one call handles; 1 where it is left out. Items that come all the time need it: otherwise each call
   * would handle the few that came during the one before, and never end.
   */
  batchSize?: number;
  /** In each interval one process runs it for all of them, however often processes start. */
  isShared?: boolean;
};

/**
 * Jobs are run for the first time this soon after the start, so that a process which lives for less than their interval still does what is due.
 * Halved, they all run in the moments in which the first requests come; doubled, a process that lives for seconds does less.
 */
const firstRunWithinMs = 5_000;

type Needs = {
  log: Log;
  clock: Clock;
  metrics: Metrics;
  tracer: Tracer | null;
  /** Whether this process is to run a shared job now. */
  claim: (job: Job) => Promise<boolean>;
  /** For tests: null runs nothing before its interval has passed. */
  firstRunWithinMs: number | null | undefined;
};

/** What became of a job in this process so far. */
export type JobRun = {
  name: string;
  everyMs: number;
  runningSince: Date | null;
  /** When nothing was left to do. */
  lastEndedAt: Date | null;
  lastFailedAt: Date | null;
};

export class Scheduler {
  readonly #jobs: readonly Job[];
  readonly #runs: ReadonlyMap<string, JobRun>;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #tracer: Tracer | null;
  readonly #claim: Needs["claim"];
  readonly #firstRunWithinMs: number | null;
  readonly #count: (labels: { job: string }, by: number) => void;
  readonly #fail: (labels: { job: string }) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #resting = new Set<string>();
  #stopped = false;

  constructor(jobs: readonly Job[], needs: Needs) {
    const { metrics } = needs;
    this.#jobs = jobs;
    this.#log = needs.log;
    this.#clock = needs.clock;
    this.#tracer = needs.tracer;
    this.#claim = needs.claim;
    this.#firstRunWithinMs = needs.firstRunWithinMs === undefined ? firstRunWithinMs : needs.firstRunWithinMs;
    this.#runs = new Map(
      jobs.map(({ name, everyMs }) => [
        name,
        { name, everyMs, runningSince: null, lastEndedAt: null, lastFailedAt: null },
      ]),
    );
    this.#count = metrics.counter("assay_job_items_total", "Items that background jobs have dealt with.");
    this.#fail = metrics.counter(
      "assay_job_failures_total",
      "Runs of background jobs that failed and will be repeated.",
    );
  }

  get runs(): readonly Readonly<JobRun>[] {
    return [...this.#runs.values()];
  }

  start(): void {
    const soon = this.#firstRunWithinMs;
    for (const job of this.#jobs)
      this.#later(job, soon === null ? job.everyMs : Math.min(job.everyMs, soon * Math.random()));
  }

  #later(job: Job, afterMs = job.everyMs): void {
    if (this.#stopped || this.#resting.has(job.name)) return;
    // Jitter of a tenth of the interval, so that processes which were started together do not stay in step.
    const timer = setTimeout(() => void this.#tick(job), afterMs * (0.95 + Math.random() / 10));
    timer.unref();
    this.#timers.set(job.name, timer);
  }

  async #tick(job: Job): Promise<void> {
    try {
      if (job.isShared !== true || (await this.#claim(job))) await this.run(job.name);
      else this.#noteRunElsewhere(job);
    } catch (error) {
      this.#fail({ job: job.name });
      this.#log.warn("background job failed, will run again", { job: job.name, ...describeError(error) });
    }
    this.#later(job);
  }

  /** To operators a job that another process has run is done. */
  #noteRunElsewhere(job: Job): void {
    const run = this.#runs.get(job.name);
    if (run !== undefined) run.lastEndedAt = this.#clock.now();
  }

  /** Runs a job until nothing is left to do. Two calls at once share one run. */
  async run(name: string): Promise<void> {
    const job = this.#jobs.find((candidate) => candidate.name === name);
    if (job === undefined) throw new Error(`there is no job "${name}"`);
    const running = this.#running.get(name);
    if (running !== undefined) {
      await running;
      // The shared run may have read the data before our caller's change, so run once more.
      return this.run(name);
    }
    const work = this.#note(job).finally(() => this.#running.delete(name));
    this.#running.set(name, work);
    return work;
  }

  async #note(job: Job): Promise<void> {
    const run = this.#runs.get(job.name);
    if (run === undefined) return this.#drain(job);
    run.runningSince = this.#clock.now();
    try {
      await this.#drain(job);
      run.lastEndedAt = this.#clock.now();
    } catch (error) {
      run.lastFailedAt = this.#clock.now();
      throw error;
    } finally {
      run.runningSince = null;
    }
  }

  async #drain(job: Job): Promise<void> {
    while (!this.#stopped && !this.#resting.has(job.name)) {
      const done = await this.#runTraced(job);
      if (done > 0) this.#count({ job: job.name }, done);
      if (done < (job.batchSize ?? 1)) return;
    }
  }

  /** Most runs find nothing to do, and nobody wants to see those. */
  #runTraced(job: Job): Promise<number> {
    if (this.#tracer === null) return job.run();
    const attributes = { "assay.job": job.name };
    return this.#tracer.root(
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

  /** Lets the batches of these jobs finish, and starts none of them any more. */
  async rest(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#resting.add(name);
      clearTimeout(this.#timers.get(name));
    }
    await Promise.allSettled(names.map((name) => this.#running.get(name)));
  }

  /** Lets batches under way finish; nothing starts any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#running.values());
  }
}
