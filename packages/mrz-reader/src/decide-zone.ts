import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import {
  type MrzCharacters,
  type MrzField,
  type MrzLayout,
  mrzLayouts,
  textOf,
} from "@assay/emrtd/mrz/mrz-layout";
import { keyFieldsOf } from "@assay/emrtd/mrz/parse-mrz";
import { lookalikesOf, type MrzAlternative, repairMrz } from "@assay/emrtd/mrz/repair-mrz";
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
      /** The same for readings that differ in two characters of one field, its check digit included, whose errors cancel each other. */
      readonly pairMargin: number;
      /** The same for zeros that are letters O, or letters O that are zeros, however many. */
      readonly exchangeMargin: number;
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
/**
 * An O is rarer in numbers than the network takes it to be, which was trained on as many of them as of zeros: issuers leave it out, or put few letters before many digits. In nats. None: 8 documents of 3,347 are lost, because their zeros
 * are taken for it. Twice: 12, because they have one.
 */
const rarerO = 1;
/**
 * The same where it is left out: behind the first digit of a number that ends in at least so many digits other than zero, and in numbers whose other characters are all of those that Germany uses, at least so many of them letters. As elsewhere: two films of
 * 6,234 are lost, and T0N0VR was believed to have letters, of which the network is sure among letters, because in names they are. Also before the first digit, or with fewer digits: one film more is read, and numbers with letters O (OO2281892, TA6EO8O9O) come close to
 * being taken for others. With one letter: five more of 245 numbers are lost whose letters O hide each other; with two: the same. Two nats: T0N0VR is believed. Four: as many numbers with zeros are won as with letters O are lost.
 */
const rarerWhereLeftOut = 3;
const leastDigits = 3;
const leastConsonants = 3;
const withoutVowels = /^[0-9CFGHJKLMNPRTVWXYZ]*$/;
/** What each O more costs that hides from the digits together with others, whatever it looks like: they look alike together, but each is rare for itself. None: OTZMTDZOJ was believed for a zero at both places. Also for zeros: they hide letters O as often. More than one, so that no frame is sure of them: with one, 11 more of 245 numbers are read whose letters O hide each other, with two, 28 fewer. */
const moreO = 1.25;
/** What a check digit's choice between two lookalikes costs at most, in nats: that a zero looks like an O is likelier than that a character is wrong of which the network is sure. Without it 4 documents of 3,347 are lost. */
const mostPaid = 2;
/** A digit that had to choose what is neither alike nor likely (this many nats) makes a frame no surer than this: what is half covered is put right to anything. Without it 4 documents of 3,347 more are read, and one of 100,767 wrongly. */
const unlikely = 1.5;
const unlikelyConfidence = 0.55;

/**
 * Where less than this share of what was seen may stand, something else is there: digits for the nationality say that a zone is read some characters beside its place, where a finger hides its beginning, and its digits may agree
 * by chance. One such place may be an error. Of 2,344 frames that were read rightly none has two, with a fifth of the share none, with five times of it nine. Without it: one wrong key in 13,495 films.
 */
const leastFitting = 0.1;
const mostMisfits = 1;

const [digitZero, letterO] = [alphabet.indexOf("0"), alphabet.indexOf("O")];

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
  /** The share of what was seen that may stand there. */
  readonly fitting: number;
};

/**
 * What the lines say, by what may stand at each position, by the check digits and by how sure the network was. Only the key is told: for a chip
 * nothing else is needed, and the name line may be covered.
 */
export function decideZone(lines: readonly ReadLine[], shape: ZoneShape, at: Date): ZoneReading {
  return decide(lines, shape, at, false);
}

/**
 * The same for lines with fillers where nothing was seen. They make the composite digit agree by chance once in ten times. So nothing may have to be put right, no number may end among them, and the composite digit
 * tells nothing of errors that hide from the digit of their own field.
 */
export function decideCovered(lines: readonly ReadLine[], shape: ZoneShape, at: Date): ZoneReading {
  return decide(lines, shape, at, true);
}

function decide(lines: readonly ReadLine[], shape: ZoneShape, at: Date, isCovered: boolean): ZoneReading {
  const layout = mrzLayouts[shape];
  const first = lines[0]?.[0];
  if (shape !== "TD1" && first !== undefined && (first[alphabet.indexOf("V")] ?? 0) > 0.5)
    return { type: "visa" };
  const { characters } = zoneSizes[shape];
  const whole = lines.every((line, index) => index === layout.name.line || line.length === characters);
  if (lines.length !== layout.lineCount || !whole) return { type: "unclear" };
  const masks = masksOf(layout);
  const options = withRarerO(lines, layout.documentNumber).map((line, index) =>
    index === layout.name.line
      ? []
      : line.map((segment, position) => rank(segment, masks[index]?.[position] ?? "any")),
  );
  const misfits = options.flat().filter(({ fitting }) => fitting < leastFitting).length;
  if (misfits > mostMisfits) return { type: "unclear" };
  const texts = options.map((line, index) =>
    index === layout.name.line
      ? nameLine(layout)
      : line.map(({ ranked }) => ranked[0]?.character ?? "<").join(""),
  );
  const doubts = options.map((line) => line.map(({ ranked }) => ranked.slice(1)));
  try {
    const { mrz, changedCharacters } = repairMrz(texts.join("\n"), at, doubts);
    const fields = keyPlaces(mrz.lines, layout, mrz.documentNumber.length);
    const sure = certainty(options, mrz.lines, fields);
    if (sure.confidence < leastConfidence) return { type: "unclear" };
    // A filler inside of a number is rare, and a K that was read as one is not; fillers for the expiry are rare, and optional data that were taken for it are not. Such a key is typed.
    if (/<[^<]/.test(mrz.documentNumber) || textOf(mrz.lines, layout.dateOfExpiry) === "<<<<<<")
      return { type: "unclear" };
    if (isCovered && (changedCharacters > 0 || mrz.documentNumber.length > 9)) return { type: "unclear" };
    const isDoubtful = isCovered || isRestSettled(texts, mrz.lines, layout);
    if (isDoubtful && !mayHaveChip(first, shape)) return { type: "unclear" };
    const composite = isCovered ? new Map<string, number>() : compositeWeights(layout);
    const hidden = fields.map((field) => hiddenMargins(options, mrz.lines, field, composite));
    const pairMargin = Math.min(...hidden.map(({ pair }) => pair));
    const exchangeMargin = Math.min(...hidden.map(({ exchange }) => exchange));
    return { type: "key", fields: keyFieldsOf(mrz), changedCharacters, ...sure, pairMargin, exchangeMargin };
  } catch {
    return { type: "unclear" };
  }
}

/** Whether something of what is in no key was put right for the composite digit. A visa has none, and one can be made to agree. */
function isRestSettled(before: readonly string[], after: readonly string[], layout: MrzLayout): boolean {
  return [
    layout.optionalData,
    layout.optionalDataCheck,
    layout.secondOptionalData,
    layout.compositeCheck,
  ].some((field) => field !== null && textOf(before, field) !== textOf(after, field));
}

/** Whether a zone of two lines says that it is a passport's or a card's, where its first character was read. */
function mayHaveChip(first: Segment | undefined, shape: ZoneShape): boolean {
  if (shape === "TD1" || first === undefined) return true;
  return [..."ACIP"].reduce((sum, letter) => sum + (first[alphabet.indexOf(letter)] ?? 0), 0) > 0.5;
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

/** The lines with an O as rare as it is in this field. */
function withRarerO(lines: readonly ReadLine[], { line, start, end }: MrzField): readonly ReadLine[] {
  const seen = (lines[line] ?? [])
    .slice(start, end)
    .map((segment) => alphabet.charAt(segment.indexOf(Math.max(...segment))));
  const lastLetter = seen.findLastIndex((character) => /[A-NP-Z]/.test(character));
  const digits = seen.flatMap((character, at) => (at > lastLetter && /[1-9]/.test(character) ? [at] : []));
  const isAmongDigits = (position: number) => digits.length >= leastDigits && position > (digits[0] ?? 0);
  const others = seen.filter((character) => !"0O<".includes(character)).join("");
  const isWithout = withoutVowels.test(others) && others.replace(/[0-9]/g, "").length >= leastConsonants;
  const rarer = (position: number) => (isWithout || isAmongDigits(position) ? rarerWhereLeftOut : rarerO);
  return lines.map((row, index) =>
    index === line
      ? row.map((segment, at) => (start <= at && at < end ? lessO(segment, rarer(at - start)) : segment))
      : row,
  );
}

/** Moves what O and 0 are to each other, and nothing else: whichever stays behind is moved. */
function lessO(segment: Segment, nats: number): Segment {
  const weighed = segment.slice();
  const [zero, letter] = [segment[digitZero] ?? 0, segment[letterO] ?? 0];
  const rare = letter * Math.exp(-nats);
  if (zero >= rare) weighed[letterO] = rare;
  else weighed[digitZero] = zero * Math.exp(nats);
  return weighed;
}

function rank(segment: Segment, characters: MrzCharacters): Options {
  let total = 0;
  const allowed = lettersOf[characters].map(({ character, index }) => ({
    character,
    share: segment[index] ?? 0,
  }));
  for (const { share } of allowed) total += share;
  const whole = segment.reduce((sum, share) => sum + share, 0);
  allowed.sort((a, b) => b.share - a.share);
  const best = allowed[0]?.share ?? 0;
  const cost = (share: number) =>
    Math.log(Math.max(best, shareFloor)) - Math.log(Math.max(share, shareFloor));
  return {
    ranked: allowed.map(({ character, share }) => ({ character, cost: cost(share) })),
    confidence: best / Math.max(total, shareFloor),
    fitting: total / Math.max(whole, shareFloor),
  };
}

/** What a character counts in a check digit, modulo ten; two that count the same are one to every check digit of the zone. */
const countsAs = (character: string) => (character === "<" ? 0 : alphabet.indexOf(character) % 10);

type Place = { readonly line: number; readonly position: number };
/** Where the characters of a field stand, and its check digit if it has one. */
type KeyField = { readonly characters: readonly Place[]; readonly check: Place | null };

const placesOf = ({ line, start, end }: Pick<MrzField, "line" | "start" | "end">): readonly Place[] =>
  Array.from({ length: end - start }, (_, index) => ({ line, position: start + index }));

/** A number of more than nine characters runs on in the optional data, with its check digit at the end. */
function keyPlaces(lines: readonly string[], layout: MrzLayout, numberLength: number): readonly KeyField[] {
  const plain = ({ line, start, end }: MrzField): KeyField => ({
    characters: placesOf({ line, start, end }),
    check: lines[line]?.charAt(end) === "<" ? null : { line, position: end },
  });
  const number = plain(layout.documentNumber);
  const more = numberLength - number.characters.length;
  const { line, start } = layout.optionalData;
  const whole: KeyField =
    more <= 0
      ? number
      : {
          characters: [...number.characters, ...placesOf({ line, start, end: start + more })],
          check: { line, position: start + more },
        };
  return [whole, plain(layout.dateOfBirth), plain(layout.dateOfExpiry)];
}

function certainty(
  options: readonly (readonly Options[])[],
  lines: readonly string[],
  fields: readonly KeyField[],
): { confidence: number; blindMargin: number } {
  let [confidence, blindMargin] = [1, mostMargin];
  for (const { characters, check } of fields) {
    for (const { line, position } of characters) {
      const chosen = lines[line]?.charAt(position) ?? "";
      const option = options[line]?.[position];
      if (option === undefined) continue;
      if (option.ranked[0]?.character === chosen) confidence = Math.min(confidence, option.confidence);
      for (const { character, cost } of option.ranked)
        if (character !== chosen && countsAs(character) === countsAs(chosen))
          blindMargin = Math.min(blindMargin, cost);
    }
    for (const { line, position } of check === null ? characters : [...characters, check])
      if (isUnlikely(lines[line]?.charAt(position) ?? "", options[line]?.[position]?.ranked ?? []))
        confidence = Math.min(confidence, unlikelyConfidence);
  }
  return { confidence, blindMargin };
}

/** Whether a check digit had to choose what is neither alike nor likely. */
function isUnlikely(chosen: string, ranked: readonly MrzAlternative[]): boolean {
  const read = ranked[0]?.character ?? "";
  const cost = ranked.find(({ character }) => character === chosen)?.cost ?? 0;
  return cost > unlikely && !(lookalikesOf[read]?.includes(chosen) ?? false);
}

const weights = [7, 3, 1] as const;
const weightAt = (index: number) => weights[index % 3] ?? 1;
const nameOf = ({ line, position }: Place) => `${line} ${position}`;

/** What each place counts for in the composite digit. */
function compositeWeights(layout: MrzLayout): ReadonlyMap<string, number> {
  return new Map(layout.composite.flatMap(placesOf).map((place, index) => [nameOf(place), weightAt(index)]));
}

/** What a place counts for in its field's check digit and in the composite one, and for each change of its value (modulo ten) the cheapest character that makes it; the same without a zero for an O and an O for a zero. */
type Changes = {
  readonly own: number;
  readonly composite: number;
  readonly cheapest: readonly number[];
  readonly besides: readonly number[];
};
/** What it costs that a zero is an O, or an O a zero, and what that changes in both digits. */
type Exchange = {
  readonly cost: number;
  readonly own: number;
  readonly composite: number;
  readonly isLetter: boolean;
};

/** Characters of a field that were read wrongly, one of which may be its check digit, agree with that digit and with the composite one when what they add to both is a multiple of ten. */
function hiddenMargins(
  options: readonly (readonly Options[])[],
  lines: readonly string[],
  { characters, check }: KeyField,
  composite: ReadonlyMap<string, number>,
): { readonly pair: number; readonly exchange: number } {
  const exchanges: Exchange[] = [];
  const changes = (check === null ? characters : [...characters, check]).map((place, index): Changes => {
    const weight = {
      own: place === check ? -1 : weightAt(index),
      composite: composite.get(nameOf(place)) ?? 0,
    };
    const chosen = lines[place.line]?.charAt(place.position) ?? "";
    const costs = costsFrom(chosen, options[place.line]?.[place.position]?.ranked ?? []);
    const other = chosen === "0" ? "O" : chosen === "O" ? "0" : null;
    const cost = other === null ? undefined : costs.find(({ character }) => character === other)?.cost;
    if (other !== null && cost !== undefined) {
      const by = countsAs(other) - countsAs(chosen) + 10;
      exchanges.push({
        cost: Math.min(cost, mostMargin),
        own: (weight.own + 10) * by,
        composite: weight.composite * by,
        isLetter: chosen === "O",
      });
    }
    const besides = costs.filter(({ character }) => character !== other);
    return { ...weight, cheapest: cheapestOf(chosen, costs), besides: cheapestOf(chosen, besides) };
  });
  let pair = 2 * mostMargin;
  for (const [index, first] of changes.entries())
    for (const second of changes.slice(index + 1)) pair = Math.min(pair, cheapestPair(first, second));
  return { pair, exchange: exchangeMargin(exchanges) };
}

function cheapestOf(chosen: string, costs: readonly MrzAlternative[]): readonly number[] {
  const cheapest = new Array<number>(10).fill(mostMargin);
  for (const { character, cost } of costs) {
    const by = (countsAs(character) - countsAs(chosen) + 10) % 10;
    cheapest[by] = Math.min(cheapest[by] ?? mostMargin, cost);
  }
  return cheapest;
}

/** What each character costs beside the one that was chosen. Where a check digit decided, what was read instead is cheaper than what was chosen. */
function costsFrom(chosen: string, ranked: readonly MrzAlternative[]): readonly MrzAlternative[] {
  const cost = ranked.find(({ character }) => character === chosen)?.cost ?? 0;
  const isAlike = lookalikesOf[chosen]?.includes(ranked[0]?.character ?? "") ?? false;
  const paid = isAlike ? Math.min(cost, mostPaid) : cost;
  return ranked.map(({ character, cost }) => ({ character, cost: cost - paid }));
}

/** The cheapest way to change both without any digit noticing; zeros and letters O for each other at both are left to `exchangeMargin`. */
function cheapestPair(first: Changes, second: Changes): number {
  const at = (costs: readonly number[], by: number) => costs[by] ?? mostMargin;
  let cheapest = 2 * mostMargin;
  for (let by = 1; by < 10; by++)
    for (let too = 1; too < 10; too++) {
      const isBlind =
        (first.own * by + second.own * too) % 10 === 0 &&
        (first.composite * by + second.composite * too) % 10 === 0;
      if (isBlind)
        cheapest = Math.min(
          cheapest,
          at(first.cheapest, by) + at(second.besides, too),
          at(first.besides, by) + at(second.cheapest, too),
        );
    }
  return cheapest;
}

/**
 * The same for zeros and letters O, however many of them: where one is taken for the other all are, so together they cost as much as the dearest. Tried from the cheapest on, with all that those before can change in both digits, and
 * how much rarer they are together.
 */
function exchangeMargin(exchanges: readonly Exchange[]): number {
  let margin = 2 * mostMargin;
  // What is changed in both digits, as two digits of a number below a hundred, so that there are never more.
  const changed = new Map([[0, 0]]);
  for (const { cost, own, composite, isLetter } of [...exchanges].sort((a, b) => a.cost - b.cost))
    for (const [before, rarer] of [...changed]) {
      const both = ((Math.floor(before / 10) + own) % 10) * 10 + (((before % 10) + composite) % 10);
      if (both === 0) margin = Math.min(margin, cost + rarer);
      const together = rarer - (isLetter ? moreO : 0);
      changed.set(both, Math.min(together, changed.get(both) ?? together));
    }
  return margin;
}
