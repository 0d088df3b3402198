import type { jobStates, OperatorConcern } from "@assay/contract/operator";
import type { BadgeLook } from "../ui/page.tsx";
import { durationText } from "../ui/times.ts";
import generatedWords from "./concerns.json" with { type: "json" };

/** What each means, and what to do first. */
export const concernWords: Record<OperatorConcern, { isGrave: boolean; says: string; todo: string }> =
  generatedWords;

export const jobWords: Record<(typeof jobStates)[number], { label: string; look: BadgeLook }> = {
  not_run_yet: { label: "Not run yet", look: "plain" },
  waiting: { label: "On time", look: "good" },
  running: { label: "Running", look: "good" },
  late: { label: "Late", look: "warn" },
  failing: { label: "Failing", look: "bad" },
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
