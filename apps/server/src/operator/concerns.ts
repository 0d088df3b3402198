import { type OperatorConcern, operatorConcerns } from "@assay/contract/operator";
import { minuteMs, secondMs } from "../kernel/clock.ts";
import type { InstallationStatus } from "./installation-status.ts";

/** As the alarms of `docs/operating.md` have it, which say what fails when they are moved. */
const webhooksWaitMs = 120 * secondMs;
const mailsWaitMs = 10 * minuteMs;

/** What somebody should look at, the gravest first. Pure. */
export function concernsOf(status: Omit<InstallationStatus, "concerns">): OperatorConcern[] {
  const { now, health, processes, jobs, trust, webhooks, mails } = status;
  const running = processes.filter((process) => !process.isSilent);
  const waitsLonger = (since: Date | null, limitMs: number) =>
    since !== null && now.getTime() - since.getTime() > limitMs;
  const holds: Record<OperatorConcern, boolean> = {
    not_ready: health.problem !== null,
    no_worker: !running.some(({ role }) => role !== "api"),
    nothing_trusted: trust !== null && trust.authorities === 0,
    overloaded: health.isOverloaded || running.some(({ report }) => report?.isOverloaded === true),
    process_not_ready: running.some(({ report }) => report !== null && report.problem !== null),
    process_silent: running.length < processes.length,
    versions_differ: new Set(running.map(({ version }) => version)).size > 1,
    jobs_failing: jobs.some(({ state }) => state === "failing"),
    jobs_late: jobs.some(({ state }) => state === "late"),
    webhooks_wait: waitsLonger(webhooks.oldestDueAt, webhooksWaitMs),
    mails_wait: waitsLonger(mails.oldestAt, mailsWaitMs),
    trust_source_failing: trust?.sources.some(({ failures }) => failures > 0) ?? false,
    rows_set_aside: status.setAside.count > 0,
  };
  return operatorConcerns.filter((concern) => holds[concern]);
}
