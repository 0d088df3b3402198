import type { Clock } from "../../platform/kernel/clock.ts";
import type { Log } from "../../platform/lib/log.ts";
import type { Metrics } from "../../platform/lib/metrics.ts";
import { buildVersion } from "../../platform/lib/process-metrics.ts";
import type { JobRun } from "../../platform/lib/scheduler.ts";
import type { FaceFigures, ProcessReport, ProcessRole } from "./process-report.ts";

type Deps = { clock: Clock; log: Log; metrics: Metrics };

/** What a report reads, once the process has started completely. */
type Watched = {
  problem: () => string | null;
  isOverloaded: () => boolean;
  jobs: () => readonly JobRun[];
};

/**
 * Reports the state of this process together with the key ring, so that any process can answer for all of
 * them.
 */
export class ProcessReporter {
  readonly version = buildVersion();
  readonly startedAt: Date;
  readonly #deps: Deps;
  readonly #role: ProcessRole;
  readonly #faceWorkers: number;
  #watched: Watched | null = null;

  constructor(deps: Deps, options: { role: ProcessRole; faceWorkers: number }) {
    this.#deps = deps;
    this.#role = options.role;
    this.#faceWorkers = options.faceWorkers;
    this.startedAt = deps.clock.now();
  }

  begin(watched: Watched): void {
    this.#watched = watched;
  }

  /** The state of this process; null while it starts. */
  readonly report = (): ProcessReport | null =>
    this.#watched === null ? null : this.#reportOf(this.#watched);

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

/** Taken from the metrics, which count it anyway. Null if the face judge has no queue. */
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
