import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import type { ZoneReading } from "./decide-zone.ts";

/** How many frames said each key. */
export type Agreement = ReadonlyMap<string, number>;
export const nothingRead: Agreement = new Map();

/** One frame would accept what check digits let pass by chance. More would make people wait, although the chip refuses a wrong key. */
const framesNeeded = 2;

/**
 * Accepts a key that two more frames say than say any other. Frames that contradict each other are often all wrong, in
 * characters that the check digits do not tell apart.
 */
export function addReading(
  agreement: Agreement,
  reading: ZoneReading,
): { readonly agreement: Agreement; readonly accepted: MrzKeyFields | null } {
  if (reading.kind !== "key") return { agreement, accepted: null };
  const key = mrzInformation(reading.fields);
  const frames = (agreement.get(key) ?? 0) + 1;
  const contradicting = Math.max(0, ...[...agreement].map(([other, count]) => (other === key ? 0 : count)));
  return {
    agreement: new Map(agreement).set(key, frames),
    accepted: frames - contradicting >= framesNeeded ? reading.fields : null,
  };
}
