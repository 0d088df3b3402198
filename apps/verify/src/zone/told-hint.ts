import type { Hint } from "@assay/mrz-reader/hint";
import type { Sight } from "@assay/mrz-reader/mrz-reader";

/** A hint is told once this many looks in a row say it. Half: hints flicker. Twice: they come when the person has moved on. */
const looksForHint = 3;
/** Looks that must say "visa" before the person is told, because a worn P looks like one now and then. */
const looksForVisa = 3;
/** How long nothing is seen before the person is told that a document may have no such lines. Half: told while they still turn to the right page. Twice: many have given up. */
const nothingSeenMs = 8000;

export type ToldHint = Hint | "loading" | "visa" | "no_lines";

/** What the person is told while the camera looks: one thing at a time. */
export type Telling = {
  readonly told: ToldHint;
  readonly last: Hint | null;
  readonly inARow: number;
  readonly visas: number;
  readonly nothingSinceMs: number | null;
};

export const nothingTold: Telling = {
  told: "loading",
  last: null,
  inARow: 0,
  visas: 0,
  nothingSinceMs: null,
};

export function tellOf(
  before: Telling,
  { hint, quad, reading }: Pick<Sight, "hint" | "quad" | "reading">,
  nowMs: number,
): Telling {
  const inARow = hint === before.last ? before.inARow + 1 : 1;
  const visas = reading.kind === "visa" ? before.visas + 1 : reading.kind === "key" ? 0 : before.visas;
  const nothingSinceMs = quad === null ? (before.nothingSinceMs ?? nowMs) : null;
  return { told: toldOf(), last: hint, inARow, visas, nothingSinceMs };

  function toldOf(): ToldHint {
    if (visas >= looksForVisa) return "visa";
    if (hint === "show_lines" && nothingSinceMs !== null && nowMs - nothingSinceMs >= nothingSeenMs)
      return "no_lines";
    return inARow >= looksForHint || before.told === "loading" ? hint : before.told;
  }
}
