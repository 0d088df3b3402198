import type { jobStates, OperatorConcern } from "@assay/contract/operator";
import type { BadgeLook } from "../ui/page.tsx";
import { durationText } from "../ui/times.ts";

/** What each means, and what to do first. */
export const concernWords: Record<OperatorConcern, { grave?: true; says: string; todo: string }> = {
  not_ready: {
    grave: true,
    says: "The process that answered is not ready",
    todo: "The reason stands under “Health”.",
  },
  no_worker: {
    grave: true,
    says: "No process does the background work",
    todo: "Start one with “assay worker”, or “assay start” without a role.",
  },
  nothing_trusted: {
    says: "No issuing authority is trusted, so only sandbox sessions can succeed",
    todo: "Import a master list with “assay trust import”.",
  },
  overloaded: {
    says: "Requests are refused for want of room",
    todo: "Add a process, or look at the database.",
  },
  process_not_ready: { says: "A process has a key ring that does not fit", todo: "See “Processes”." },
  process_silent: {
    says: "A process has ended without saying so, or hangs",
    todo: "Its last lines in the log say why.",
  },
  versions_differ: { says: "Processes of different versions run", todo: "Finish the update." },
  jobs_failing: { says: "A background job fails and is repeated", todo: "The log says why." },
  jobs_late: { says: "A background job should have run and has not", todo: "See “Background jobs”." },
  webhooks_wait: {
    says: "Webhooks have been due for more than two minutes",
    todo: "A worker is missing, or has no room.",
  },
  mails_wait: {
    says: "A mail has been waiting for more than ten minutes",
    todo: "The mail server refuses it, or is away; the log says why.",
  },
  trust_source_failing: { says: "A source of trust does not answer as it should", todo: "See “Trust”." },
  rows_set_aside: {
    says: "Jobs have set rows aside that they cannot deal with",
    todo: "See “Set aside”. They are tried again by themselves.",
  },
};

export const jobWords: Record<(typeof jobStates)[number], { label: string; look: BadgeLook }> = {
  not_run_yet: { label: "not run yet", look: "plain" },
  waiting: { label: "on time", look: "good" },
  running: { label: "running", look: "good" },
  late: { label: "late", look: "warn" },
  failing: { label: "failing", look: "bad" },
};

/** How long ago, by the clock of the service: that of the reader may differ. */
export function ageText(since: string, at: string): string {
  const seconds = Math.max(0, (Date.parse(at) - Date.parse(since)) / 1000);
  return seconds < 48 * 3600 ? durationText(seconds) : `${Math.floor(seconds / 86_400)} days`;
}

export function agoText(then: string | null, at: string, never = "–"): string {
  if (then === null) return never;
  // Processes tell about themselves every ten seconds, so seconds say nothing.
  return Date.parse(at) - Date.parse(then) < 15_000 ? "just now" : `${ageText(then, at)} ago`;
}

export function countText(count: number, isCapped = false): string {
  return `${count.toLocaleString("en")}${isCapped ? "+" : ""}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
