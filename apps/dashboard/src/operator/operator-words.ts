import type { jobStates, OperatorConcern } from "@assay/contract/operator";
import { intlTag, t } from "../i18n/words.ts";
import { countText } from "../ui/numbers.ts";
import type { BadgeLook } from "../ui/page.tsx";
import { durationText, relativeDays } from "../ui/times.ts";
import translated from "./concern-texts.json" with { type: "json" };
import generated from "./concerns.json" with { type: "json" };

type Texts = Record<OperatorConcern, { says: string; todo: string }>;
const inEnglish: Record<OperatorConcern, { isGrave: boolean; says: string; todo: string }> = generated;
const others: Readonly<Partial<Record<string, Texts>>> = translated;

/** What a concern means, and what to do first. */
export function concernWords(concern: OperatorConcern): (typeof inEnglish)[OperatorConcern] {
  return { ...inEnglish[concern], ...others[intlTag]?.[concern] };
}

export const jobLooks: Record<(typeof jobStates)[number], BadgeLook> = {
  not_run_yet: "plain",
  waiting: "good",
  running: "good",
  late: "warn",
  failing: "bad",
};

const dayMs = 86_400_000;

/** The age by the service's clock; the reader's clock may differ. */
export function ageText(since: string, at: string): string {
  const ageMs = Math.max(0, Date.parse(at) - Date.parse(since));
  return ageMs < 2 * dayMs ? durationText(ageMs / 1000) : t.operator.days(Math.floor(ageMs / dayMs));
}

export function agoText(then: string | null, at: string, never = "–"): string {
  if (then === null) return never;
  const ageMs = Date.parse(at) - Date.parse(then);
  // Processes report every ten seconds, so a count of seconds is meaningless.
  if (ageMs < 15_000) return t.ui.times.justNow;
  return ageMs < 2 * dayMs ? t.operator.ago(ageText(then, at)) : relativeDays(-Math.floor(ageMs / dayMs));
}

export function aheadText(then: string, at: string): string {
  const gapMs = Date.parse(then) - Date.parse(at);
  return gapMs < 2 * dayMs ? t.operator.inAge(ageText(at, then)) : relativeDays(Math.floor(gapMs / dayMs));
}

export function countOrMore(count: number, isCapped: boolean): string {
  return `${countText(count)}${isCapped ? "+" : ""}`;
}
