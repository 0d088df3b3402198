import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Db } from "../db/db.ts";
import { type Clock, later } from "../kernel/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { buildVersion } from "../lib/process-metrics.ts";
import type { JobRun } from "../lib/scheduler.ts";
import { forgetReports, removeReport, saveReport } from "./process-report.store.ts";
import {
  type FaceFigures,
  forgottenAfterMs,
  type ProcessReport,
  type ProcessRole,
} from "./process-report.ts";

type Deps = { db: Db; clock: Clock; log: Log; metrics: Metrics };

/** What is looked at, once everything of the process is there. */
export type Watched = {
  problem: () => string | null;
  isOverloaded: () => boolean;
  jobs: () => readonly JobRun[];
};

/** Writes down how this process fares, so that whichever process is asked can tell about all of them. */
export class ProcessReporter {
  readonly version = buildVersion();
  readonly startedAt: Date;
  readonly #deps: Deps;
  readonly #role: ProcessRole;
  readonly #faceWorkers: number;
  readonly #codeVersion: number;
  readonly #id = randomUUID();
  #watched: Watched | null = null;

  constructor(deps: Deps, options: { role: ProcessRole; faceWorkers: number; codeVersion: number }) {
    this.#deps = deps;
    this.#role = options.role;
    this.#faceWorkers = options.faceWorkers;
    this.#codeVersion = options.codeVersion;
    this.startedAt = deps.clock.now();
  }

  /** Begins to tell about what is given. Those that ended an hour ago without saying so are forgotten. */
  async begin(watched: Watched): Promise<void> {
    const { db, clock } = this.#deps;
    this.#watched = watched;
    await forgetReports(db, later(clock.now(), -forgottenAfterMs));
    await this.report();
  }

  async report(): Promise<void> {
    if (this.#watched === null) return;
    const { db, clock } = this.#deps;
    await saveReport(db, {
      id: this.#id,
      name: `process ${process.pid} on ${hostname()}`,
      role: this.#role,
      version: this.version,
      codeVersion: this.#codeVersion,
      startedAt: this.startedAt,
      now: clock.now(),
      report: this.#reportOf(this.#watched),
    });
  }

  /** Without a database the others notice after a while. */
  async leave(): Promise<void> {
    const { db, log } = this.#deps;
    await removeReport(db, this.#id).catch((error) =>
      log.warn("could not take back what this process told about itself", describeError(error)),
    );
  }

  #reportOf({ problem, isOverloaded, jobs }: Watched): ProcessReport {
    const textOf = (at: Date | null) => at?.toISOString() ?? null;
    return {
      problem: problem(),
      isOverloaded: isOverloaded(),
      face: this.#role === "worker" ? null : readFaceFigures(this.#deps.metrics, this.#faceWorkers),
      jobs: jobs().map(({ name, everyMs, runningSince, lastEndedAt, lastFailedAt }) => ({
        name,
        everyMs,
        runningSince: textOf(runningSince),
        lastEndedAt: textOf(lastEndedAt),
        lastFailedAt: textOf(lastFailedAt),
      })),
    };
  }
}

/** From the metrics, which count it anyway. Null where the faces are judged by something that has no queue. */
export function readFaceFigures(metrics: Metrics, workers: number): FaceFigures | null {
  const [waiting] = valuesOf(metrics, "assay_face_queue");
  if (waiting === undefined) return null;
  const outcomes = valuesOf(metrics, "assay_face_judgements_total");
  const durations = metrics.readingOf("assay_face_judgement_seconds");
  const {
    counts = [],
    sum = 0,
    count = 0,
  } = (durations?.kind === "histogram" ? durations.distributions[0] : undefined) ?? {};
  const bounds = durations?.kind === "histogram" ? durations.bounds : [];
  return {
    workers,
    waiting: waiting.value,
    judged: outcomes.reduce((all, { value }) => all + value, 0),
    faults: outcomes.find(({ labels }) => labels.outcome === "fault")?.value ?? 0,
    meanSeconds: count === 0 ? null : sum / count,
    nineOfTenWithinSeconds:
      count === 0 ? null : (bounds.find((_, i) => (counts[i] ?? 0) >= 0.9 * count) ?? null),
  };
}

function valuesOf(metrics: Metrics, name: string) {
  const reading = metrics.readingOf(name);
  return reading === undefined || reading.kind === "histogram" ? [] : reading.values;
}
