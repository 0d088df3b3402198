import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { type MrzCharacters, type MrzField, type MrzLayout, mrzLayouts } from "@assay/emrtd/mrz/mrz-layout";
import { keyFieldsOf } from "@assay/emrtd/mrz/parse-mrz";
import { type MrzAlternative, repairMrz } from "@assay/emrtd/mrz/repair-mrz";
import { alphabet, type ReadLine, type Segment } from "./read-lines.ts";
import { type ZoneShape, zoneSizes } from "./zone-shape.ts";

/** What one frame says. */
export type ZoneReading =
  | {
      readonly type: "key";
      readonly fields: MrzKeyFields;
      /** How many characters check digits had to settle. */
      readonly changedCharacters: number;
      /** How likely the least sure character of the key is, among those that may stand there. */
      readonly confidence: number;
      /** How much less likely the likeliest reading is that differs in one character and that no check digit would notice, in nats. */
      readonly blindMargin: number;
      /** The same for readings of the number that differ in two characters, whose errors cancel each other. */
      readonly pairMargin: number;
    }
  | { readonly type: "visa" }
  | { readonly type: "unclear" };

/** Below this a share says no more than that the network did not think of it. */
const shareFloor = 1e-4;
/** What one character counts for at most, which is about what a share at the floor gives. */
const mostMargin = 9;
/**
 * How sure the network must be of every character of the key, among those that may stand there, for a frame to say anything. Less would be a guess. What it takes to be believed is told in agreement.ts; what
 * is said with less than that speaks against other keys.
 */
const leastConfidence = 0.5;

const matching = (pattern: RegExp) =>
  [...alphabet].flatMap((character, index) => (pattern.test(character) ? [{ character, index }] : []));
const lettersOf: Readonly<Record<MrzCharacters, readonly { character: string; index: number }[]>> = {
  letters: matching(/[A-Z<]/),
  digits: matching(/[0-9<]/),
  any: matching(/[A-Z0-9<]/),
  sex: matching(/[MFX<]/),
};

type Options = {
  /** The likeliest first; costs are relative to it. */
  readonly ranked: readonly MrzAlternative[];
  readonly confidence: number;
};

/**
 * What the lines say, by what may stand at each position, by the check digits and by how sure the network was. Only the key is told: for a chip
 * nothing else is needed, and the name line may be covered.
 */
export function decideZone(
  lines: readonly ReadLine[],
  shape: ZoneShape,
  at: Date,
  least = leastConfidence,
): ZoneReading {
  const layout = mrzLayouts[shape];
  const first = lines[0]?.[0];
  if (shape !== "TD1" && first !== undefined && (first[alphabet.indexOf("V")] ?? 0) > 0.5)
    return { type: "visa" };
  const { characters } = zoneSizes[shape];
  const whole = lines.every((line, index) => index === layout.name.line || line.length === characters);
  if (lines.length !== layout.lineCount || !whole) return { type: "unclear" };
  const masks = masksOf(layout);
  const options = lines.map((line, index) =>
    index === layout.name.line
      ? []
      : line.map((segment, position) => rank(segment, masks[index]?.[position] ?? "any")),
  );
  const texts = options.map((line, index) =>
    index === layout.name.line
      ? nameLine(layout)
      : line.map(({ ranked }) => ranked[0]?.character ?? "<").join(""),
  );
  const doubts = options.map((line) => line.map(({ ranked }) => ranked.slice(1)));
  try {
    const { mrz, changedCharacters } = repairMrz(texts.join("\n"), at, doubts);
    const sure = certainty(options, mrz.lines, layout);
    if (sure.confidence < least) return { type: "unclear" };
    // A filler inside of a number is rare, and a K that was read as one is not. Such a number is typed.
    if (/<[^<]/.test(mrz.documentNumber)) return { type: "unclear" };
    const pairMargin = pairMarginOf(options, mrz.lines, layout);
    return { type: "key", fields: keyFieldsOf(mrz), changedCharacters, ...sure, pairMargin };
  } catch {
    return { type: "unclear" };
  }
}

/** Stands in for the line with the name, which has no check digit and no part in the key. */
function nameLine(layout: MrzLayout): string {
  return layout.format === "TD1" ? "X".padEnd(30, "<") : "P<UTOX".padEnd(layout.lineLength, "<");
}

const masks = new Map<MrzLayout, readonly (readonly MrzCharacters[])[]>();

function masksOf(layout: MrzLayout): readonly (readonly MrzCharacters[])[] {
  const known = masks.get(layout);
  if (known !== undefined) return known;
  const made = Array.from({ length: layout.lineCount }, () =>
    Array.from({ length: layout.lineLength }, (): MrzCharacters => "any"),
  );
  const fields = Object.entries(layout).filter(([name]) => name !== "composite");
  for (const [, value] of fields) {
    if (typeof value !== "object" || value === null) continue;
    const field = value as MrzField;
    made[field.line]?.fill(field.characters, field.start, field.end);
  }
  masks.set(layout, made);
  return made;
}

function rank(segment: Segment, characters: MrzCharacters): Options {
  let total = 0;
  const allowed = lettersOf[characters].map(({ character, index }) => ({
    character,
    share: segment[index] ?? 0,
  }));
  for (const { share } of allowed) total += share;
  allowed.sort((a, b) => b.share - a.share);
  const best = allowed[0]?.share ?? 0;
  const cost = (share: number) =>
    Math.log(Math.max(best, shareFloor)) - Math.log(Math.max(share, shareFloor));
  return {
    ranked: allowed.map(({ character, share }) => ({ character, cost: cost(share) })),
    confidence: best / Math.max(total, shareFloor),
  };
}

/** What a character counts in a check digit, modulo ten; two that count the same are one to every check digit of the zone. */
const countsAs = (character: string) => (character === "<" ? 0 : alphabet.indexOf(character) % 10);

function certainty(
  options: readonly (readonly Options[])[],
  lines: readonly string[],
  layout: MrzLayout,
): { confidence: number; blindMargin: number } {
  let [confidence, blindMargin] = [1, mostMargin];
  for (const { line, start, end } of [layout.documentNumber, layout.dateOfBirth, layout.dateOfExpiry])
    for (let position = start; position < end; position++) {
      const chosen = lines[line]?.charAt(position) ?? "";
      const option = options[line]?.[position];
      if (option === undefined) continue;
      if (option.ranked[0]?.character === chosen) confidence = Math.min(confidence, option.confidence);
      for (const { character, cost } of option.ranked)
        if (character !== chosen && countsAs(character) === countsAs(chosen))
          blindMargin = Math.min(blindMargin, cost);
    }
  return { confidence, blindMargin };
}

const weights = [7, 3, 1] as const;

/** Two characters of the number read wrongly agree with its check digit when what they add to it is a multiple of ten; zeros that are taken for letters O do so often. */
function pairMarginOf(
  options: readonly (readonly Options[])[],
  lines: readonly string[],
  layout: MrzLayout,
): number {
  const { line, start, end } = layout.documentNumber;
  // For each position: the cheapest way to change what it adds to the sum, by how much it changes (modulo ten).
  const changes = Array.from({ length: end - start }, (_, index) => {
    const cheapest = new Array<number>(10).fill(mostMargin);
    const chosen = lines[line]?.charAt(start + index) ?? "";
    const ranked = options[line]?.[start + index]?.ranked ?? [];
    // Where a check digit decided, what was read instead is cheaper than what was chosen.
    const paid = ranked.find(({ character }) => character === chosen)?.cost ?? 0;
    for (const { character, cost } of ranked) {
      const shift = ((countsAs(character) - countsAs(chosen) + 10) * (weights[index % 3] ?? 1)) % 10;
      if (character !== chosen) cheapest[shift] = Math.min(cheapest[shift] ?? mostMargin, cost - paid);
    }
    return cheapest;
  });
  let margin = 2 * mostMargin;
  for (const [index, first] of changes.entries())
    for (const second of changes.slice(index + 1))
      for (let shift = 1; shift < 10; shift++)
        margin = Math.min(margin, (first[shift] ?? mostMargin) + (second[10 - shift] ?? mostMargin));
  return margin;
}
