import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import type { ZoneReading } from "./decide-zone.ts";
import type { HowRead } from "./mrz-reader.ts";

type KeyReading = Extract<ZoneReading, { type: "key" }>;
type Support = {
  /** Frames that said this key, however sure they were. */
  readonly said: number;
  readonly counted: number;
  readonly sure: number;
};

/** Which keys were read so far, and how often. */
export type Agreement = ReadonlyMap<string, Support>;
export const nothingRead: Agreement = new Map();

/**
 * How sure a frame must be: of its least sure character; that no reading is meant which no check digit tells from it, in nats, of one character (S and 8, G and 6), and of two whose errors cancel
 * (two zeros taken for letters O). What a check digit can tell needs less of the first and the others need more: with 0.7, 3 and 4, and 6 to be sure, three documents of 19,712 were believed wrongly by frames that each counted, with these
 * none, and 14 films of 6,912 more are lost to the vote (README). With 4 instead of 4.5 for one character, one film of 2,590 more is read, and one more key is wrong in what was kept of 355,000 documents where three counted frames of four are enough. Half of the margins: faces that are not OCR-B give wrong keys. Twice of what is sure: everybody waits for four frames.
 */
const counts = { confidence: 0.6, blindMargin: 4.5, pairMargin: 5 } as const;
const isSure = { confidence: 0.9, blindMargin: 7, pairMargin: 8 } as const;
/** Half: one frame decides, and every wrong key of a single frame is believed. Twice: another second on every phone. */
const sureFrames = 2;
const countedFrames = 4;
/** Of the frames that say a key, this share must count: who holds a worn document for long has four of anything. Half: one film of a thousand less. None: nothing in ten frames, and more with every frame beyond. */
const countedShare = 1 / 3;
/** By how many frames a key must be ahead of all others together. One less: a key is believed that half of the frames contradict. Twice: one wrong frame keeps a document out for a second. */
const leastLead = 2;

const reaches = (reading: KeyReading, least: typeof counts | typeof isSure) =>
  reading.confidence >= least.confidence &&
  reading.blindMargin >= least.blindMargin &&
  reading.pairMargin >= least.pairMargin;

/**
 * Believes a key when two frames say the same and are sure of it as it was seen, or when four say it; and when it is ahead of everything else that was read. A finger that stays
 * where it is fools all frames; then the chip refuses the key, and that costs a retry.
 * What was read with fillers for what is covered counts as one of four; what was read at another place than where the zone was found does so only where it is sure: with a second chance in every frame to be as sure as others, frames of a face that is not OCR-B agreed on a wrong key.
 */
export function addReading(
  agreement: Agreement,
  reading: ZoneReading,
  how: HowRead = "seen",
): { readonly agreement: Agreement; readonly accepted: MrzKeyFields | null } {
  if (reading.type !== "key") return { agreement, accepted: null };
  const key = mrzInformation(reading.fields);
  const before = agreement.get(key) ?? { said: 0, counted: 0, sure: 0 };
  const isSureAsSeen = reading.changedCharacters === 0 && reaches(reading, isSure);
  const hasCounted = how === "elsewhere" ? isSureAsSeen : reaches(reading, counts);
  const hasSeen = isSureAsSeen && how === "seen";
  const support = {
    said: before.said + 1,
    counted: before.counted + (hasCounted ? 1 : 0),
    sure: before.sure + (hasSeen ? 1 : 0),
  };
  const after = new Map(agreement).set(key, support);
  let others = -support.said;
  for (const { said } of after.values()) others += said;
  const isEnough =
    support.sure >= sureFrames ||
    (support.counted >= countedFrames && support.counted >= countedShare * support.said);
  const accepted = hasCounted && isEnough && support.counted - others >= leastLead;
  return { agreement: after, accepted: accepted ? reading.fields : null };
}

/** How many frames said another key than this one. */
export function saidOtherwise(agreement: Agreement, fields: MrzKeyFields): number {
  let said = -(agreement.get(mrzInformation(fields))?.said ?? 0);
  for (const support of agreement.values()) said += support.said;
  return said;
}
