import { type MrzFormat, mrzLayouts } from "@assay/emrtd/mrz/mrz-layout";
import { homographyBetween, type Quad } from "./geometry.ts";
import { standardised, straighten } from "./grey.ts";
import type { Network, Output, Plane } from "./network.ts";

export const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<";
/** The class of the network that means "between two characters" (the blank of CTC). */
const blank = alphabet.length;

/** Parameters of the training; training/pipeline.py has the same numbers. */
const strip = { height: 32, pitch: 12, margin: 12, share: 0.92 } as const;
const contrastFloor = 0.02;
/**
 * Characters read of the name's line: enough to distinguish a visa from a passport.
 * The name itself is not read.
 */
const namedCharacters = 6;

/** One character that was seen: how likely each of the 37 is. They sum to 1. */
export type Segment = Float32Array;
export type ReadLine = readonly Segment[];
/**
 * Reads each line of the zone separately, straightened to twelve pixels a character. Of the name's line only
 * the start is read. Every other line has the length of its shape, or is empty if it does not fit. Null if
 * the corners enclose no zone.
 */
export function readLines(
  read: Network,
  frame: Plane,
  quad: Quad,
  shape: MrzFormat,
): readonly ReadLine[] | null {
  const { lineCount: lines, lineLength: characters, name } = mrzLayouts[shape];
  const right = characters * strip.pitch;
  const map = homographyBetween(
    [
      { x: 0, y: 0 },
      { x: right, y: 0 },
      { x: right, y: lines },
      { x: 0, y: lines },
    ],
    quad,
  );
  if (map === null) return null;
  return Array.from({ length: lines }, (_, line) => {
    const isName = line === name.line;
    // A card's first line says what it is, and its last says the name alone.
    if (isName && line > 0) return [];
    const length = isName ? namedCharacters : characters;
    const picture = straighten(frame, map, length * strip.pitch + 2 * strip.margin, strip.height, {
      x: -strip.margin,
      y: line + 0.5 - strip.share / 2,
      stepX: 1,
      stepY: strip.share / strip.height,
    });
    const seen = read.run(standardised(picture, contrastFloor));
    return isName ? segmentsOf(seen) : charactersOf(seen, characters);
  });
}

/** Neighbours along the line that say the same are one character; what the blank divides are two. */
export function segmentsOf({ maps, width, stride }: Pick<Output, "maps" | "width" | "stride">): ReadLine {
  const segments: Float32Array[] = [];
  const shares = new Float64Array(blank + 1);
  let before = blank;
  for (let at = 0; at < width; at++) {
    sharesAt(maps, at * stride, shares);
    const best = shares.indexOf(Math.max(...shares));
    if (best !== blank && best !== before) segments.push(new Float32Array(blank));
    const segment = segments.at(-1);
    if (best !== blank && segment !== undefined) addShares(segment, shares);
    before = best;
  }
  for (const segment of segments) {
    const total = segment.reduce((sum, share) => sum + share, 0);
    for (const [index, share] of segment.entries()) segment[index] = share / total;
  }
  return segments;
}

/** The likelihood of every class at one place along the line. */
function sharesAt(maps: Float32Array, from: number, shares: Float64Array): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let index = 0; index <= blank; index++) most = Math.max(most, maps[from + index] ?? 0);
  let total = 0;
  for (let index = 0; index <= blank; index++) {
    const share = Math.exp((maps[from + index] ?? 0) - most);
    shares[index] = share;
    total += share;
  }
  for (let index = 0; index <= blank; index++) shares[index] = (shares[index] ?? 0) / total;
}

function addShares(segment: Float32Array, shares: Float64Array): void {
  for (let index = 0; index < blank; index++) segment[index] = (segment[index] ?? 0) + (shares[index] ?? 0);
}

/**
 * By how many nats the best reading of any length may exceed all readings of the wanted length. Lower:
 * refuses lines whose fillers merged. Higher: reads lines of another shape as this one.
 */
const maxStrain = 6;
/** How far a character may be from its expected place. More takes time and reads no more. */
const maxShift = 5;

/**
 * Probability of each character at each place, over all readings of exactly this length: forward and backward
 * through the CTC lattice. So merged characters need not be resolved first.
 */
export function charactersOf(
  { maps, width, stride }: Pick<Output, "maps" | "width" | "stride">,
  count: number,
): ReadLine {
  const lattice = new Lattice(maps, width, stride, count);
  return lattice.strain() > maxStrain ? [] : lattice.characters();
}

class Lattice {
  readonly #width: number;
  readonly #count: number;
  /** For each place along the line: the likelihood of every class. */
  readonly #shares: Float64Array;
  /**
   * Per place and character:
   * the probability that it begins here as each letter, divided by the scales so far.
   */
  readonly #entered: Float64Array;
  readonly #scales: Float64Array;
  #likely = 0;
  #best = 0;

  constructor(maps: Float32Array, width: number, stride: number, count: number) {
    this.#width = width;
    this.#count = count;
    this.#shares = new Float64Array(width * (blank + 1));
    this.#entered = new Float64Array(width * count * blank);
    this.#scales = new Float64Array(width);
    for (let at = 0; at < width; at++) {
      const shares = this.#at(at);
      sharesAt(maps, at * stride, shares);
      this.#best += Math.log(Math.max(...shares));
    }
    this.#forward();
  }

  strain(): number {
    return this.#best - this.#likely;
  }

  #at(at: number): Float64Array {
    return this.#shares.subarray(at * (blank + 1), (at + 1) * (blank + 1));
  }

  /** The characters that may have begun here: the first and the one after the last. */
  #band(at: number): readonly [number, number] {
    const near = Math.round(((at + 0.5) / this.#width) * (this.#count + 2) - 1);
    return [
      Math.max(0, Math.min(this.#count, near - maxShift)),
      Math.max(0, Math.min(this.#count, near + maxShift)),
    ];
  }

  /**
   * `ink`: this many characters were read and the position is on the last, per letter.
   * `gap`: the same, but on a gap.
   */
  #forward(): void {
    const count = this.#count;
    const ink = new Float64Array((count + 1) * blank);
    const gap = new Float64Array(count + 1);
    const total = new Float64Array(count + 1);
    gap[0] = 1;
    for (let at = 0; at < this.#width; at++) {
      const shares = this.#at(at);
      const [first, end] = this.#band(at);
      for (let n = Math.max(0, first - 1); n <= end; n++) {
        let sum = gap[n] ?? 0;
        for (let letter = 0; letter < blank; letter++) sum += ink[n * blank + letter] ?? 0;
        total[n] = sum;
      }
      let scale = 0;
      for (let n = end; n >= first; n--) {
        gap[n] = (total[n] ?? 0) * (shares[blank] ?? 0);
        scale += gap[n] ?? 0;
        for (let letter = 0; letter < blank; letter++) {
          const share = shares[letter] ?? 0;
          // Into this character: from the gap before it, or at once from another letter.
          const into = n === 0 ? 0 : ((total[n - 1] ?? 0) - (ink[(n - 1) * blank + letter] ?? 0)) * share;
          const value = (ink[n * blank + letter] ?? 0) * share + into;
          ink[n * blank + letter] = value;
          scale += value;
          if (n > 0) this.#entered[(at * count + n - 1) * blank + letter] = into;
        }
      }
      // Clears what the band has passed.
      if (first > 0) {
        gap[first - 1] = 0;
        ink.fill(0, (first - 1) * blank, first * blank);
      }
      const by = 1 / Math.max(scale, Number.MIN_VALUE);
      for (let n = first; n <= end; n++) gap[n] = (gap[n] ?? 0) * by;
      for (let index = first * blank; index < (end + 1) * blank; index++) ink[index] = (ink[index] ?? 0) * by;
      const from = at * count * blank;
      for (let index = from; index < from + count * blank; index++)
        this.#entered[index] = (this.#entered[index] ?? 0) * by;
      this.#scales[at] = by;
      this.#likely -= Math.log(by);
    }
    let whole = gap[count] ?? 0;
    for (let letter = 0; letter < blank; letter++) whole += ink[count * blank + letter] ?? 0;
    this.#likely += Math.log(whole);
  }

  characters(): ReadLine {
    const count = this.#count;
    const segments = Array.from({ length: count }, () => new Float32Array(blank));
    // What may follow after this many characters: on a letter, and on a gap.
    const onInk = new Float64Array((count + 2) * blank);
    const onGap = new Float64Array(count + 2);
    onInk.fill(1, count * blank, (count + 1) * blank);
    onGap[count] = 1;
    for (let at = this.#width - 1; at >= 0; at--) {
      const shares = this.#at(at);
      const by = this.#scales[at] ?? 0;
      const [first, end] = this.#band(at);
      onGap[end + 1] = 0;
      onInk.fill(0, (end + 1) * blank, (end + 2) * blank);
      for (let n = Math.max(1, first); n <= end; n++) {
        const segment = segments[n - 1];
        if (segment === undefined) continue;
        const from = (at * count + n - 1) * blank;
        for (let letter = 0; letter < blank; letter++)
          segment[letter] =
            (segment[letter] ?? 0) + (this.#entered[from + letter] ?? 0) * (onInk[n * blank + letter] ?? 0);
      }
      for (let n = Math.max(0, first - 1); n <= end; n++) {
        let ahead = 0;
        for (let letter = 0; letter < blank; letter++)
          ahead += (onInk[(n + 1) * blank + letter] ?? 0) * (shares[letter] ?? 0);
        const through = (onGap[n] ?? 0) * (shares[blank] ?? 0);
        for (let letter = 0; letter < blank; letter++) {
          const share = shares[letter] ?? 0;
          const next = (onInk[(n + 1) * blank + letter] ?? 0) * share;
          onInk[n * blank + letter] =
            ((onInk[n * blank + letter] ?? 0) * share + through + ahead - next) * by;
        }
        onGap[n] = (through + ahead) * by;
      }
    }
    for (const segment of segments) {
      const total = segment.reduce((sum, share) => sum + share, 0);
      for (const [index, share] of segment.entries()) segment[index] = share / total;
    }
    return segments;
  }
}
