import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import type { ZoneReading } from "./decide-zone.ts";

/** How many frames gave each key. */
export type Agreement = ReadonlyMap<string, number>;
export const nothingRead: Agreement = new Map();

/**
 * Accepts a key if `needed` more frames gave it than gave any other key. Frames that contradict each other are
 * often all wrong, in characters that the check digits do not tell apart.
 */
export function addReading(
  agreement: Agreement,
  reading: ZoneReading,
  needed: number,
): { readonly agreement: Agreement; readonly accepted: MrzKeyFields | null } {
  if (reading.kind !== "key") return { agreement, accepted: null };
  const key = mrzInformation(reading.fields);
  const frames = (agreement.get(key) ?? 0) + 1;
  const contradicting = Math.max(0, ...[...agreement].map(([other, count]) => (other === key ? 0 : count)));
  return {
    agreement: new Map(agreement).set(key, frames),
    accepted: frames - contradicting >= needed ? reading.fields : null,
  };
}
