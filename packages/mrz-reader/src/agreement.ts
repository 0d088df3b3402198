import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import type { ZoneReading } from "./decide-zone.ts";

type Support = { readonly frames: number; readonly untouched: number; readonly margin: number };

/** Which keys were read so far, and how well. */
export type Agreement = ReadonlyMap<string, Support>;
export const nothingRead: Agreement = new Map();

/** Half: one frame decides, and every wrong key of a single frame is believed. Twice: another fifth of a second on every phone. */
const leastFrames = 2;
/**
 * All agreeing frames together must be this much surer of the key than of any that differs only where no check digit looks, in nats. From the evaluation: at 0
 * an S is taken for an 8 now and then, twice as much costs a frame more where the print is worn.
 */
const leastMargin = 5;

/**
 * Believes a key when two frames say the same, one of them at least as it was seen, and the pairs that check digits cannot tell apart (S and 8, G and 6)
 * were told apart by eye. A finger that stays where it is fools both frames; then the chip refuses the key, and that costs a retry.
 */
export function addReading(
  agreement: Agreement,
  reading: ZoneReading,
): { readonly agreement: Agreement; readonly accepted: MrzKeyFields | null } {
  if (reading.type !== "key") return { agreement, accepted: null };
  const key = mrzInformation(reading.fields);
  const before = agreement.get(key) ?? { frames: 0, untouched: 0, margin: 0 };
  const support = {
    frames: before.frames + 1,
    untouched: before.untouched + (reading.changedCharacters === 0 ? 1 : 0),
    margin: before.margin + reading.blindMargin,
  };
  const accepted = support.frames >= leastFrames && support.untouched >= 1 && support.margin >= leastMargin;
  return { agreement: new Map(agreement).set(key, support), accepted: accepted ? reading.fields : null };
}
