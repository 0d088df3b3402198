import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { type Agreement, addReading, nothingRead } from "./agreement.ts";
import type { Sight, Tip } from "./mrz-reader.ts";

/** What is kept while the camera looks: no picture, and nothing once a key is believed. */
export type Film = {
  readonly agreement: Agreement;
  /** Frames in a row without a zone. */
  readonly without: number;
  /** For the next look. */
  readonly tip: Tip;
};
export const nothingSeen: Film = {
  agreement: nothingRead,
  without: 0,
  tip: { way: 0, patience: 0, quad: null },
};

/** Frames without a zone after which another document may be shown. Half: a hand that shakes loses what was read. Twice: who changes documents waits. */
const goneFrames = 10;

/** Believes a key when frames agree on it (`addReading`). The film that comes back is the one to go on with. */
export function addSight(
  film: Film,
  sight: Pick<Sight, "quad" | "reading" | "how">,
): { readonly film: Film; readonly accepted: MrzKeyFields | null } {
  const without = sight.quad === null ? film.without + 1 : 0;
  if (without >= goneFrames) return { film: nothingSeen, accepted: null };
  const { agreement, accepted } = addReading(film.agreement, sight.reading, sight.how);
  if (accepted !== null) return { film: nothingSeen, accepted };
  return { film: { agreement, without, tip: nextTip(film.tip, sight) }, accepted: null };
}

/** For how many frames in a row a place that helped may fail before another is tried: what draws a corner away stays, and a frame is blurred now and then. None: one film more of 60 lost ones stays lost. Twice: who changes what is in the way waits. */
const patience = 2;

/** What helped is tried first in the next frame. Where there was no zone nothing was tried. */
function nextTip(
  { way, patience: left }: Tip,
  { quad, reading, how }: Pick<Sight, "quad" | "reading" | "how">,
): Tip {
  if (how === "elsewhere") return { way, patience, quad };
  if (reading.type !== "unclear" || quad === null) return { way, patience: left, quad };
  return left > 0 ? { way, patience: left - 1, quad } : { way: way + 1, patience: 0, quad };
}
