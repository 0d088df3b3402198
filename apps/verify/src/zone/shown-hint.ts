import type { Hint } from "@assay/mrz-reader/hint";
import type { Sight } from "@assay/mrz-reader/mrz-reader";

/** Looks in a row that must give a hint before it is shown; with fewer, hints flicker. */
const looksForHint = 3;
/** Looks that must say "visa" before the page does, because a worn P sometimes looks like a V. */
const looksForVisa = 3;
/**
 * Time without lines before the page says that the document may have none.
 * Finding the right page takes seconds.
 */
const nothingSeenMs = 8000;

export type ShownHint = Hint | "loading" | "visa" | "no_lines";

/** The hint that is shown while the camera looks: one at a time. */
export type HintState = {
  readonly shown: ShownHint;
  readonly last: Hint | null;
  readonly inARow: number;
  readonly visas: number;
  readonly nothingSinceMs: number | null;
};

export const initialHint: HintState = {
  shown: "loading",
  last: null,
  inARow: 0,
  visas: 0,
  nothingSinceMs: null,
};

export function nextHint(
  before: HintState,
  { hint, quad, reading }: Pick<Sight, "hint" | "quad" | "reading">,
  nowMs: number,
): HintState {
  const inARow = hint === before.last ? before.inARow + 1 : 1;
  const visas = reading.kind === "visa" ? before.visas + 1 : reading.kind === "key" ? 0 : before.visas;
  const nothingSinceMs = quad === null ? (before.nothingSinceMs ?? nowMs) : null;
  return { shown: shownHint(), last: hint, inARow, visas, nothingSinceMs };

  function shownHint(): ShownHint {
    if (visas >= looksForVisa) return "visa";
    if (hint === "show_lines" && nothingSinceMs !== null && nowMs - nothingSinceMs >= nothingSeenMs)
      return "no_lines";
    return inARow >= looksForHint || before.shown === "loading" ? hint : before.shown;
  }
}
