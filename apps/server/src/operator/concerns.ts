import { helperRoles, type OperatorConcern, operatorConcerns } from "@assay/contract/operator";
import { minuteMs, secondMs } from "../kernel/clock.ts";
import type { InstallationStatus } from "./installation-status.ts";
import type { SeenHelper } from "./process-report.ts";

/** As the alarms of `docs/operating.md` have it, which say what fails when they are moved. */
const webhooksWaitMs = 120 * secondMs;
const mailsWaitMs = 10 * minuteMs;

/** What somebody should look at, the gravest first. Pure. */
export function concernsOf(status: Omit<InstallationStatus, "concerns">): OperatorConcern[] {
  const { now, health, processes, jobs, trust, webhooks, mails } = status;
  const running = processes.filter((process) => !process.isSilent);
  // What each process sees of each role that it calls.
  const sights = running.flatMap(({ report }) =>
    helperRoles
      .map((role) => (report?.helpers ?? []).filter((helper) => helper.role === role))
      .filter((of) => of.length > 0),
  );
  const helperVersions = sights.flat().flatMap(({ version }) => version ?? []);
  const waitsLonger = (since: Date | null, limitMs: number) =>
    since !== null && now.getTime() - since.getTime() > limitMs;
  const holds: Record<OperatorConcern, boolean> = {
    not_ready: health.problem !== null,
    no_worker: !running.some(({ role }) => role !== "api"),
    no_helper: sights.some((of) => of.every(isUnreachable)),
    nothing_trusted: trust !== null && trust.authorities === 0,
    overloaded:
      health.isOverloaded ||
      running.some(({ report }) => report?.isOverloaded === true) ||
      sights.some((of) => of.some(isBusy) && of.every((helper) => isBusy(helper) || isUnreachable(helper))),
    process_not_ready: running.some(({ report }) => report !== null && report.problem !== null),
    process_silent: running.length < processes.length,
    helper_unreachable: sights.some((of) => of.some(isUnreachable) && !of.every(isUnreachable)),
    versions_differ: new Set([...running.map(({ version }) => version), ...helperVersions]).size > 1,
    jobs_failing: jobs.some(({ state }) => state === "failing"),
    jobs_late: jobs.some(({ state }) => state === "late"),
    webhooks_wait: waitsLonger(webhooks.oldestDueAt, webhooksWaitMs),
    mails_wait: waitsLonger(mails.oldestAt, mailsWaitMs),
    trust_source_failing: trust?.sources.some(({ failures }) => failures > 0) ?? false,
    rows_set_aside: status.setAside.count > 0,
  };
  return operatorConcerns.filter((concern) => holds[concern]);
}

const isUnreachable = ({ state }: SeenHelper) => state === "unreachable";
const isBusy = ({ state }: SeenHelper) => state === "busy";
