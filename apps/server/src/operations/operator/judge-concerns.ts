import { type Found, ok } from "@assay/cli/checks";
import { type OperatorConcern, operatorConcerns } from "@assay/contract/operator";
import type { Subject } from "./concern.ts";
import { concerns } from "./concerns.ts";
import type { Facts } from "./facts.ts";

/** The doctor's finding about one subject: the first concern that applies, or none. */
export function judge<S extends keyof Facts>(of: S, fact: Facts[S], now: Date): Found {
  const subject: Subject<Facts[S]> = concerns[of];
  for (const { state, look, todo } of Object.values(subject.concerns)) {
    const found = look?.(fact, now);
    if (typeof found === "string")
      return { state, found, todo: typeof todo === "string" ? todo : todo(fact) };
  }
  return ok(subject.well(fact, now));
}

/** The concerns on the operator's page, the most severe first. A missing fact could not be determined. */
export function pageConcerns(facts: Partial<Facts>, now: Date): OperatorConcern[] {
  const held = new Set((Object.keys(facts) as (keyof Facts)[]).flatMap((of) => holding(of, facts[of], now)));
  return operatorConcerns.filter((id) => held.has(id));
}

function holding<S extends keyof Facts>(of: S, fact: Facts[S] | undefined, now: Date): string[] {
  if (fact === undefined) return [];
  const subject: Subject<Facts[S]> = concerns[of];
  return Object.entries(subject.concerns)
    .filter(([, { says, look }]) => says !== null && typeof look?.(fact, now) === "string")
    .map(([id]) => id);
}
