import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import type { ZoneReading } from "./decide-zone.ts";

type Support = { readonly frames: number; readonly untouched: number };

/** Which keys were read so far, and how often. */
export type Agreement = ReadonlyMap<string, Support>;
export const nothingRead: Agreement = new Map();

/** Half: one frame decides, and every wrong key of a single frame is believed. Twice: another fifth of a second on every phone. */
const leastFrames = 2;
/**
 * How much surer a frame must be of what it read than of a reading that no check digit tells from it, in nats: of one character (S and 8, G and 6), and of two whose
 * errors cancel (two zeros taken for letters O). The second by 240 documents whose numbers are full of zeros (README): at 8 a twentieth fewer are read, because zeros are never
 * that sure; without it the wrong keys among faces that are not OCR-B are 4 instead of 3.
 */
const leastBlindMargin = 4;
const leastPairMargin = 5;

const counts = ({ blindMargin, pairMargin }: Extract<ZoneReading, { type: "key" }>) =>
  blindMargin >= leastBlindMargin && pairMargin >= leastPairMargin;

/**
 * Believes a key when two frames say the same, one of them at least as it was seen, and what check digits cannot tell apart was told apart by eye. A finger that stays
 * where it is fools both frames; then the chip refuses the key, and that costs a retry.
 */
export function addReading(
  agreement: Agreement,
  reading: ZoneReading,
): { readonly agreement: Agreement; readonly accepted: MrzKeyFields | null } {
  if (reading.type !== "key" || !counts(reading)) return { agreement, accepted: null };
  const key = mrzInformation(reading.fields);
  const before = agreement.get(key) ?? { frames: 0, untouched: 0 };
  const support = {
    frames: before.frames + 1,
    untouched: before.untouched + (reading.changedCharacters === 0 ? 1 : 0),
  };
  const accepted = support.frames >= leastFrames && support.untouched >= 1;
  return { agreement: new Map(agreement).set(key, support), accepted: accepted ? reading.fields : null };
}
