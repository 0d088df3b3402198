import type { ZoneShape } from "./find-zone.ts";
import { homographyBetween, type Quad } from "./geometry.ts";
import { standardised, straighten } from "./grey.ts";
import type { Network, Output, Plane } from "./network.ts";

export const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<";
/** The class of the network that means "between two characters" (the blank of CTC). */
const blank = alphabet.length;

export const zoneSizes: Readonly<Record<ZoneShape, { readonly lines: number; readonly characters: number }>> =
  {
    TD1: { lines: 3, characters: 30 },
    TD2: { lines: 2, characters: 36 },
    TD3: { lines: 2, characters: 44 },
  };

/** What the network was trained with; training/pipeline.py has the same numbers. */
const strip = { height: 32, pitch: 12, margin: 12, share: 0.92 } as const;
const contrastFloor = 0.02;

/** One character that was seen: how likely each of the 37 is. They sum to 1. */
export type Segment = Float32Array;
export type ReadLine = readonly Segment[];

/** Each line of the zone, straightened to twelve pixels a character, and read by itself. Null for corners between which there is no zone. */
export function readLines(
  read: Network,
  frame: Plane,
  quad: Quad,
  shape: ZoneShape,
): readonly ReadLine[] | null {
  const { lines, characters } = zoneSizes[shape];
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
    const picture = straighten(frame, map, right + 2 * strip.margin, strip.height, {
      x: -strip.margin,
      y: line + 0.5 - strip.share / 2,
      stepX: 1,
      stepY: strip.share / strip.height,
    });
    return segmentsOf(read.run(standardised(picture, contrastFloor)));
  });
}

/** Neighbours along the line that say the same are one character; what the blank divides are two. */
export function segmentsOf({ maps, width, stride }: Pick<Output, "maps" | "width" | "stride">): ReadLine {
  const segments: Float32Array[] = [];
  let before = blank;
  for (let at = 0; at < width; at++) {
    const from = at * stride;
    let best = 0;
    for (let index = 1; index <= blank; index++)
      if ((maps[from + index] ?? 0) > (maps[from + best] ?? 0)) best = index;
    if (best !== blank && best !== before) segments.push(new Float32Array(blank));
    const segment = segments.at(-1);
    if (best !== blank && segment !== undefined) addShares(segment, maps, from, maps[from + best] ?? 0);
    before = best;
  }
  for (const segment of segments) {
    const total = segment.reduce((sum, share) => sum + share, 0);
    for (const [index, share] of segment.entries()) segment[index] = share / total;
  }
  return segments;
}

function addShares(segment: Float32Array, maps: Float32Array, from: number, most: number): void {
  let total = 0;
  for (let index = 0; index <= blank; index++) total += Math.exp((maps[from + index] ?? 0) - most);
  for (let index = 0; index < blank; index++)
    segment[index] = (segment[index] ?? 0) + Math.exp((maps[from + index] ?? 0) - most) / total;
}
