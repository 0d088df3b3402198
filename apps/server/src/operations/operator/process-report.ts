import type { jobStates, processRoles } from "@assay/contract/operator";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import { minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { goneAfterMs } from "../../platform/key-ring/ring-state.ts";

const Text = Type.Unsafe<string | null>({ type: ["string", "null"] });
const Amount = Type.Unsafe<number | null>({ type: ["number", "null"] });

const FaceFigures = Type.Object({
  workers: Type.Number(),
  waiting: Type.Number(),
  judged: Type.Number(),
  faults: Type.Number(),
  meanSeconds: Amount,
  nineOfTenWithinSeconds: Amount,
});
export type FaceFigures = Static<typeof FaceFigures>;

/** The stored form. Times are texts, because it is JSON. */
const ProcessReport = Type.Object({
  problem: Text,
  isOverloaded: Type.Boolean(),
  face: Type.Unsafe<FaceFigures | null>({ anyOf: [{ type: "null" }, FaceFigures] }),
  jobs: Type.Array(
    Type.Object({
      name: Type.String(),
      everyMs: Type.Number(),
      runningSince: Text,
      lastEndedAt: Text,
      lastFailedAt: Text,
    }),
  ),
});
export type ProcessReport = Static<typeof ProcessReport>;

/** Null if another version of the service wrote another form. */
export function readReport(stored: unknown): ProcessReport | null {
  return Check(ProcessReport, stored) ? stored : null;
}

/** `api` answers requests, `worker` runs the background work, `all` does both. */
export type ProcessRole = (typeof processRoles)[number];

export type ReportedProcess = {
  name: string;
  role: ProcessRole;
  version: string;
  startedAt: Date;
  seenAt: Date;
  report: ProcessReport | null;
};

export function isSilent({ seenAt }: ReportedProcess, now: Date): boolean {
  return now.getTime() - seenAt.getTime() >= goneAfterMs;
}

/** The machines of these processes, from the names of the processes. */
export function machinesOf(processes: readonly { name: string }[]): string[] {
  return [...new Set(processes.map(({ name }) => name.replace(/^process \d+ on /, "")))].sort();
}

export type JobSummary = {
  name: string;
  state: (typeof jobStates)[number];
  everyMs: number;
  lastEndedAt: Date | null;
  lastFailedAt: Date | null;
  runningSince: Date | null;
  lateSeconds: number;
};

/**
 * A job that is overdue by this time is late. Half of it would raise alarms on a busy machine. Twice would
 * hide that a job of every second has stopped.
 */
const lateAfterMs = minuteMs;

/**
 * The state of each job over all processes that run it. Any of them may do the work, so the most recent run
 * counts. Lateness is measured at the time of the report, which may be some seconds ago.
 */
export function summarizeJobs(processes: readonly ReportedProcess[]): JobSummary[] {
  const runs = processes.flatMap((process) =>
    (process.report?.jobs ?? []).map((job) => ({
      ...job,
      lateMs: process.seenAt.getTime() - lastMoment(job, process).getTime() - job.everyMs,
    })),
  );
  const byName = Map.groupBy(runs, ({ name }) => name);
  return [...byName]
    .map(([name, of]) => {
      const lastEndedAt = latest(of.map((run) => run.lastEndedAt));
      const lastFailedAt = latest(of.map((run) => run.lastFailedAt));
      const runningSince = latest(of.map((run) => run.runningSince));
      const lateMs = Math.min(...of.map((run) => run.lateMs));
      const isLate = runningSince === null && lateMs >= lateAfterMs;
      const isFailing =
        lastFailedAt !== null && (lastEndedAt === null || lastFailedAt.getTime() > lastEndedAt.getTime());
      return {
        name,
        everyMs: of[0]?.everyMs ?? 0,
        lastEndedAt,
        lastFailedAt,
        runningSince,
        lateSeconds: isLate ? Math.floor(lateMs / secondMs) : 0,
        state: isFailing
          ? ("failing" as const)
          : isLate
            ? ("late" as const)
            : runningSince !== null
              ? ("running" as const)
              : lastEndedAt === null
                ? ("not_run_yet" as const)
                : ("waiting" as const),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A job first runs after its interval, so a process that has just started is not late. */
function lastMoment(job: ProcessReport["jobs"][number], { startedAt }: ReportedProcess): Date {
  return latest([job.lastEndedAt, job.lastFailedAt, startedAt.toISOString()]) ?? startedAt;
}

function latest(moments: readonly (string | null)[]): Date | null {
  const known = moments.filter((moment) => moment !== null).map((moment) => new Date(moment).getTime());
  return known.length === 0 ? null : new Date(Math.max(...known));
}
