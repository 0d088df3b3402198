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
 * How much the surroundings of a face change when the head turns, relative to the face. A head takes hair,
 * ears and outline along; a bent picture turns only the face. Both squares show the same part of the picture:
 * brightness row by row, NaN outside. Null if too little of either is visible.
 */
export function surroundingsShare(straight: ArrayLike<number>, turned: ArrayLike<number>): number | null {
  let best: { around: number; shift: number } | null = null;
  for (let down = -maxShift; down <= maxShift; down++)
    for (let across = -maxShift; across <= maxShift; across++) {
      const shift = down * surroundingsPixels + across;
      const around = differenceIn(surroundingPixels, straight, turned, shift);
      if (around !== null && (best === null || around < best.around)) best = { around, shift };
    }
  if (best === null) return null;
  const face = differenceIn(facePixels, straight, turned, best.shift);
  return face === null || face === 0 ? null : best.around / face;
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
