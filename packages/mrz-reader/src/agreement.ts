import { type MrzKeyFields, mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import type { ZoneReading } from "./decide-zone.ts";
import type { HowRead } from "./mrz-reader.ts";

type KeyReading = Extract<ZoneReading, { type: "key" }>;
type Support = {
  /** Frames that said this key, however sure they were, and those of them that count. */
  readonly said: number;
  readonly counted: number;
  /** What those are worth. */
  readonly worth: number;
};

/** Which keys were read so far, and how often. */
export type Agreement = ReadonlyMap<string, Support>;
export const nothingRead: Agreement = new Map();

/**
 * How sure a frame must be to count: of its least sure character; that no reading is meant which no check digit tells from it, in nats, of one character (S and 8, G and 6), of two whose errors cancel, and of zeros that are
 * letters O. All numbers here were chosen by what ten frames said of 304,441 documents, a third of them hard: they believe none wrongly, nor would they with four frames instead of five. With 4.5 for one character two would be by four frames (one with 8 for
 * S), and 11 more of 33,383 of medium difficulty are read; with 5 for two characters one is (ZU for 7W), and 8 more are read; with 4.5 for zeros one is (OO for 00), and 7 more are read. With 0.6 for the least sure character 4 fewer are read;
 * below 0.56 would count what was put right to anything (decide-zone.ts).
 */
const counts = { confidence: 0.56, blindMargin: 5, pairMargin: 6, exchangeMargin: 5 } as const;
/** A frame that is sure. With 6.5 for one character two of those documents are believed wrongly (one with N for X), and 9 more of medium difficulty are read. With 0.9 for the least sure character 6 fewer. */
const isSure = { confidence: 0.7, blindMargin: 7.5, pairMargin: 8, exchangeMargin: 8 } as const;
/**
 * So many frames that count are believed: a hard document is mistaken in the same way in frame after frame. One that is sure is worth three, or one and a quarter where it was read at another place than where the zone was found: with
 * a second chance in every frame to be as sure as others, frames of a face that is not OCR-B agreed on a wrong key. With three frames four documents are believed wrongly, with four none, and 26 more of medium difficulty are read. With six 17 fewer.
 */
const enoughFrames = 5;
const sureWorth = 3;
const elsewhereWorth = 1.25;
/** Those that count must be worth this share of all that say the key: who holds a worn document for long has five of anything. Half or none: nothing in ten frames; none: more wrong keys with every frame beyond. */
const countedShare = 1 / 3;
/** By how many frames a key must be ahead of all others together. One less: a key is believed that half of the frames contradict. Twice: one wrong frame keeps a document out for a second. */
const leastLead = 2;

const reaches = (reading: KeyReading, least: typeof counts | typeof isSure) =>
  reading.confidence >= least.confidence &&
  reading.blindMargin >= least.blindMargin &&
  reading.pairMargin >= least.pairMargin &&
  reading.exchangeMargin >= least.exchangeMargin;

/**
 * Believes a key when two frames say the same and are sure of it as it was seen, one is and two more say it, or five say it; and when it is ahead of everything else that was read. A finger that stays
 * where it is fools all frames; then the chip refuses the key, and that costs a retry. What was read with fillers for what is covered counts as one of five; what was read at another place only where it is sure.
 */
export function addReading(
  agreement: Agreement,
  reading: ZoneReading,
  how: HowRead = "seen",
): { readonly agreement: Agreement; readonly accepted: MrzKeyFields | null } {
  if (reading.type !== "key") return { agreement, accepted: null };
  const key = mrzInformation(reading.fields);
  const before = agreement.get(key) ?? { said: 0, counted: 0, worth: 0 };
  const isSureAsSeen = reading.changedCharacters === 0 && reaches(reading, isSure);
  const hasCounted = how === "elsewhere" ? isSureAsSeen : reaches(reading, counts);
  const support = {
    said: before.said + 1,
    counted: before.counted + (hasCounted ? 1 : 0),
    worth: before.worth + (hasCounted ? worthOf(isSureAsSeen, how) : 0),
  };
  const after = new Map(agreement).set(key, support);
  let others = -support.said;
  for (const { said } of after.values()) others += said;
  const isEnough = support.worth >= Math.max(enoughFrames, countedShare * support.said);
  const accepted = hasCounted && isEnough && support.counted - others >= leastLead;
  return { agreement: after, accepted: accepted ? reading.fields : null };
}

function worthOf(isSureAsSeen: boolean, how: HowRead): number {
  if (how === "elsewhere") return elsewhereWorth;
  return isSureAsSeen && how === "seen" ? sureWorth : 1;
}
