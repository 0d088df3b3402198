import { facePixels, surroundingPixels, surroundingsPixels } from "./face-square.ts";

/** How far the camera may have moved between the looks, in pixels of the square. Half: a hand that trembles counts as a head. Twice: four times the work. */
const maxShift = 5;
/** Of the pixels of a region that have to be in both pictures. Half: an ear decides. Twice: no face near the edge of a picture is measured. */
const minSeenShare = 0.5;
/** Light may change between the looks, with the colours of the screen. */
const [minGain, maxGain] = [0.7, 1.4];

/**
 * How much the surroundings of a face change when the head turns, as a share of how much the face does. A head takes
 * hair, ears and outline along; a picture of a face that is bent turns the face alone. Both squares show the same part
 * of the picture, brightness row by row, not a number outside of it. Null where too little is seen of one of them.
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

/** Mean difference of a region once one picture is as bright as the other; null where too little of it is seen. */
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
