import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { type MrzLayout, mrzLayouts } from "@assay/emrtd/mrz/mrz-layout";
import { type Agreement, addReading, nothingRead, saidOtherwise } from "./agreement.ts";
import { decideZone, type ZoneReading } from "./decide-zone.ts";
import type { ReadZone, Sight, Tip } from "./mrz-reader.ts";
import type { ReadLine, Segment } from "./read-lines.ts";
import type { ZoneShape } from "./zone-shape.ts";

/** What frames say together of one document: for each character of each line the sum of how likely each letter was, in nats below the likeliest. */
type Sum = {
  readonly shape: ZoneShape;
  readonly frames: number;
  readonly lines: readonly (readonly Float64Array[])[];
};

/** What is kept while the camera looks: no picture, and nothing once a key is believed. */
export type Film = {
  readonly agreement: Agreement;
  /** The one that was added to last stands last. */
  readonly sums: readonly Sum[];
  /** Frames in a row without a zone. */
  readonly without: number;
  /** For the next look. */
  readonly tip: Tip;
};
export const nothingSeen: Film = {
  agreement: nothingRead,
  sums: [],
  without: 0,
  tip: { way: 0, patience: 0, quad: null },
};

/** What one frame says against a letter at most, in nats, so that one bad frame cannot outweigh the good ones. Half: the sum believes nothing that the vote does not. Twice: no film more. */
const mostSaid = 6;
/**
 * How alike the errors of two frames are, from 0 (each is new) to 1 (all frames are one): a finger stays, worn print stays worn. So many frames count as n / (1 + (n - 1) * likeness) of them.
 * Half or twice: the same films; three times: one of a hundred hard ones less.
 */
const likeness = 0.1;
/** Beyond so many the sum forgets as much as it learns, so that it is never surer than what was measured (ten frames, README). */
const mostFrames = 10;
/** How many frames a sum needs. One less: as few as must each be sure to be believed. Twice: two of a hundred films less, and a second more for others. */
const leastFrames = 3;
/** How sure the sum must be of its least sure character. 0.6: the same films. 0.95: two of a hundred hard ones less. */
const enoughConfidence = 0.8;
/**
 * What no check digit tells apart is not made surer by adding up, because a face or a print that is mistaken once is mistaken in every frame: there the mean of the frames must be surer than a frame that counts (agreement.ts), because
 * these frames did not. With 3 on the sum, an M of a face that is not OCR-B was believed to be a W; with 3 and 4 on the mean, wrong keys of three documents in 3,840 were believed (OO for 00 twice, a 5 for a P), with 3 and 6 of one in
 * 3,072 films (a filler for a K) and one in 12,800 documents (a U for a 0), which these leave out.
 */
const enoughOnAverage = { blindMargin: 5.5, pairMargin: 6 } as const;
/** By how many frames a sum must be ahead of what contradicts it, as in agreement.ts. One more or less: the same films. */
const leastLead = 2;
/** A frame speaks of another document, or was read at a wrong place, when it is this sure of more than so many other characters of the key, each this many nats less likely in the sum. Half or twice of them: the same films. */
const sureOfAnother = 0.8;
const clearlyLess = 1.5;
const mostOthers = 3;
/** Documents, or wrong places, that are told apart at a time. They bound what is kept: about 100 KB. */
const mostSums = 4;
/** Frames without a zone after which another document may be shown. Half: a hand that shakes loses what was read. Twice: who changes documents waits. */
const goneFrames = 10;

/**
 * Believes a key when frames agree on it each by itself (`addReading`), or when what they say of each character, added up, is a zone whose check digits agree as it stands: no digit may settle a doubt there, because frames of
 * one document doubt in the same places. The film that comes back is the one to go on with.
 */
export function addSight(
  film: Film,
  sight: Pick<Sight, "quad" | "reading" | "zones" | "how">,
  at: Date,
): { readonly film: Film; readonly accepted: MrzKeyFields | null } {
  const { quad, reading } = sight;
  const without = quad === null ? film.without + 1 : 0;
  if (without >= goneFrames) return { film: nothingSeen, accepted: null };
  const { agreement, accepted } = addReading(film.agreement, reading, sight.how);
  if (accepted !== null) return { film: nothingSeen, accepted };
  let { sums } = film;
  if (reading.type !== "visa")
    for (const zone of sight.zones) {
      const added = addZone(sums, zone);
      if (added === null) continue;
      sums = [...sums.filter((sum) => sum !== added.before), added.sum].slice(-mostSums);
      const key = believed(added.sum, at);
      if (key === null) continue;
      const against = sums
        .filter((sum) => sum !== added.sum && addedUp(sum, at).type === "key")
        .reduce((frames, sum) => frames + sum.frames, saidOtherwise(agreement, key));
      if (added.sum.frames - against >= leastLead) return { film: nothingSeen, accepted: key };
    }
  return { film: { agreement, sums, without, tip: nextTip(film.tip, sight) }, accepted: null };
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

/** The sum that speaks of the same document, and what it is with this frame. Null for a zone with a line that was not read. */
function addZone(
  sums: readonly Sum[],
  { shape, lines }: ReadZone,
): { readonly before: Sum | null; readonly sum: Sum } | null {
  const layout = mrzLayouts[shape];
  const said = lines.map((line, index) => (index === layout.name.line ? [] : line.map(saidOf)));
  if (said.some((line, index) => index !== layout.name.line && line.length !== layout.lineLength))
    return null;
  let before: Sum | null = null;
  let fewest = mostOthers + 1;
  for (const sum of sums) {
    const others = sum.shape === shape ? othersIn(sum, lines, layout) : fewest;
    if (others < fewest) [before, fewest] = [sum, others];
  }
  if (before === null) return { before, sum: { shape, frames: 1, lines: said } };
  const kept = before.frames < mostFrames ? 1 : (mostFrames - 1) / mostFrames;
  const together = before.lines.map((line, index) =>
    line.map((old, position) =>
      old.map((value, letter) => value * kept + (said[index]?.[position]?.[letter] ?? 0)),
    ),
  );
  return { before, sum: { shape, frames: Math.min(mostFrames, before.frames + 1), lines: together } };
}

/** In nats below the likeliest letter, and never more than one frame may say. */
function saidOf(segment: Segment): Float64Array {
  const most = Math.max(...segment);
  return Float64Array.from(segment, (share) => Math.max(-mostSaid, Math.log(share / most) || 0));
}

/** Characters of the key that the frame is sure of and the sum takes for others. */
function othersIn(sum: Sum, lines: readonly ReadLine[], layout: MrzLayout): number {
  let others = 0;
  for (const { line, start, end } of [layout.documentNumber, layout.dateOfBirth, layout.dateOfExpiry])
    for (let position = start; position < end; position++) {
      const segment = lines[line]?.[position];
      const summed = sum.lines[line]?.[position];
      if (segment === undefined || summed === undefined) continue;
      const share = Math.max(...segment);
      const behind = Math.max(...summed) - (summed[segment.indexOf(share)] ?? 0);
      if (share > sureOfAnother && behind > clearlyLess) others++;
    }
  return others;
}

/** With `weight` frames' worth of what the frames say on average. */
function readingOf({ shape, frames, lines }: Sum, weight: number, least: number, at: Date): ZoneReading {
  const shares = lines.map((line) =>
    line.map((summed) => {
      const most = Math.max(...summed);
      const powers = Float32Array.from(summed, (value) => Math.exp(((value - most) / frames) * weight));
      const total = powers.reduce((sum, power) => sum + power, 0);
      return powers.map((power) => power / total);
    }),
  );
  return decideZone(shares, shape, at, least);
}

const addedUp = (sum: Sum, at: Date) =>
  readingOf(sum, sum.frames / (1 + (sum.frames - 1) * likeness), enoughConfidence, at);

/** The key that a sum says, where it is sure enough of it. */
function believed(sum: Sum, at: Date): MrzKeyFields | null {
  if (sum.frames < leastFrames) return null;
  const reading = addedUp(sum, at);
  if (reading.type !== "key" || reading.changedCharacters > 0) return null;
  const mean = readingOf(sum, 1, 0, at);
  const isEnough =
    mean.type === "key" &&
    mean.blindMargin >= enoughOnAverage.blindMargin &&
    mean.pairMargin >= enoughOnAverage.pairMargin;
  return isEnough ? reading.fields : null;
}
