import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { type Agreement, addReading, nothingRead } from "./agreement.ts";
import type { Sight } from "./mrz-reader.ts";

/** State while the camera runs: no picture, and nothing once a key is accepted. */
type Film = {
  readonly agreement: Agreement;
  /** Frames in a row without a zone. */
  readonly without: number;
};
export const nothingSeen: Film = { agreement: nothingRead, without: 0 };

/** Frames without a zone after which another document may be shown. */
const goneFrames = 10;

/** With two, 1 of 15,120 films of scanned print gave a wrong key; with three, none did. A frame takes about 60 ms. */
const framesNeeded = 3;

/** Accepts a key when frames agree on it (`addReading`). Continue with the returned film. */
export function addSight(
  film: Film,
  { quad, reading }: Pick<Sight, "quad" | "reading">,
): { readonly film: Film; readonly accepted: MrzKeyFields | null } {
  const without = quad === null ? film.without + 1 : 0;
  if (without >= goneFrames) return { film: nothingSeen, accepted: null };
  const { agreement, accepted } = addReading(film.agreement, reading, framesNeeded);
  return { film: accepted === null ? { agreement, without } : nothingSeen, accepted };
}
