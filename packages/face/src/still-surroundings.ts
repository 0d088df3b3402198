import { facePixels, surroundingPixels, surroundingsPixels } from "./face-square.ts";

/**
 * Largest camera movement between the looks, in pixels of the square. Lower: a trembling hand counts as a
 * head. Doubled: four times the work.
 */
const maxShift = 5;
/**
 * Share of a region's pixels that must be in both pictures.
 * Lower: an ear decides. Higher: faces near the edge are not measured.
 */
const minSeenShare = 0.5;
/** Light may change between the looks, with the colours of the screen. */
const [minGain, maxGain] = [0.7, 1.4];

/**
 * Steps below a pixel of the square, which is several of the picture. Without them, what a hand trembles by
 * counts as change: a third of bent photographs passed. One finer: 6 % less change in them.
 */
const refinements = [0.5, 0.25];

const wholePixels = Array.from({ length: (2 * maxShift + 1) ** 2 }, (_, at) => {
  const side = 2 * maxShift + 1;
  return [(at % side) - maxShift, Math.floor(at / side) - maxShift] as const;
});

type Alignment = { readonly around: number; readonly across: number; readonly down: number };

/**
 * How much the surroundings of a face change when the head turns: the geometric mean of the change against
 * that of the face and against their own contrast. A head takes hair, ears and outline along; a bent picture
 * turns only the face. A smooth face hardly changes and surroundings rich in contrast change by noise, so
 * either share alone errs. Both squares show the same part of the picture: brightness row by row, NaN
 * outside. Null if too little of either is visible.
 */
export function surroundingsShare(straight: ArrayLike<number>, turned: ArrayLike<number>): number | null {
  let best = bestOf(wholePixels, straight, turned);
  for (const step of refinements) {
    if (best === null) return null;
    const { across, down } = best;
    best = bestOf(
      [-step, 0, step].flatMap((y) => [-step, 0, step].map((x) => [across + x, down + y] as const)),
      straight,
      turned,
    );
  }
  if (best === null) return null;
  const { square, shift } = moved(turned, best.across, best.down);
  const face = differenceIn(facePixels, straight, square, shift);
  const contrast = contrastIn(surroundingPixels, straight);
  return face === null || face * contrast === 0 ? null : best.around / Math.sqrt(face * contrast);
}

/** The movement of the camera that leaves the least difference. */
function bestOf(
  movements: readonly (readonly [across: number, down: number])[],
  straight: ArrayLike<number>,
  turned: ArrayLike<number>,
): Alignment | null {
  let best: Alignment | null = null;
  for (const [across, down] of movements) {
    const { square, shift } = moved(turned, across, down);
    const around = differenceIn(surroundingPixels, straight, square, shift);
    if (around !== null && (best === null || around < best.around)) best = { around, across, down };
  }
  return best;
}

/** The square and the shift in it at which a pixel finds its partner; between pixels, a blended square. */
function moved(
  square: ArrayLike<number>,
  across: number,
  down: number,
): { readonly square: ArrayLike<number>; readonly shift: number } {
  const [left, top] = [Math.floor(across), Math.floor(down)];
  const [u, v] = [across - left, down - top];
  const shift = top * surroundingsPixels + left;
  if (u === 0 && v === 0) return { square, shift };
  const blended = Float64Array.from({ length: surroundingsPixels ** 2 }, (_, at) => {
    const below = at + surroundingsPixels;
    const upper = between(u, square[at], square[at + 1]);
    return between(v, upper, between(u, square[below], square[below + 1]));
  });
  return { square: blended, shift };
}

/** What has no share does not count, because it may be outside of the picture. */
function between(share: number, one = Number.NaN, other = Number.NaN): number {
  return share === 0 ? one : one * (1 - share) + other * share;
}

/** Mean distance of a region's pixels from their mean. */
function contrastIn(region: readonly number[], square: ArrayLike<number>): number {
  const seen = region.flatMap((at) => {
    const value = square[at] ?? Number.NaN;
    return Number.isNaN(value) ? [] : [value];
  });
  const mean = seen.reduce((sum, value) => sum + value, 0) / seen.length;
  return seen.reduce((sum, value) => sum + Math.abs(value - mean), 0) / seen.length;
}

/** Mean difference of a region after equalizing brightness; null if too little of it is visible. */
function differenceIn(
  region: readonly number[],
  one: ArrayLike<number>,
  other: ArrayLike<number>,
  shift: number,
): number | null {
  let [count, sumX, sumY, sumXY, sumYY] = [0, 0, 0, 0, 0];
  for (const at of region) {
    const [x, y] = [one[at] ?? Number.NaN, other[at + shift] ?? Number.NaN];
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    count++;
    sumX += x;
    sumY += y;
    sumXY += x * y;
    sumYY += y * y;
  }
  if (count < minSeenShare * region.length) return null;
  const variance = sumYY - (sumY * sumY) / count;
  const slope = variance > 0 ? (sumXY - (sumX * sumY) / count) / variance : 1;
  const gain = Math.min(Math.max(slope, minGain), maxGain);
  const offset = (sumX - gain * sumY) / count;
  let sum = 0;
  for (const at of region) {
    const difference = (one[at] ?? Number.NaN) - gain * (other[at + shift] ?? Number.NaN) - offset;
    if (!Number.isNaN(difference)) sum += Math.abs(difference);
  }
  return sum / count;
}
