import type { Clock } from "../../platform/kernel/clock.ts";
import type { Log } from "../../platform/lib/log.ts";
import type { Metrics } from "../../platform/lib/metrics.ts";
import { buildVersion } from "../../platform/lib/process-metrics.ts";
import type { JobRun } from "../../platform/lib/scheduler.ts";
import type { FaceFigures, ProcessReport, ProcessRole } from "./process-report.ts";

type Deps = { clock: Clock; log: Log; metrics: Metrics };

/** What is looked at, once everything of the process is there. */
type Watched = {
  problem: () => string | null;
  isOverloaded: () => boolean;
  jobs: () => readonly JobRun[];
};

/** Says how this process fares. It is reported with the key ring, so that whichever process is asked can tell about all of them. */
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

  /** Begins to report what is given. */
  begin(watched: Watched): void {
    this.#watched = watched;
  }

  /** How this process fares; null while it starts. */
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
