import type { Box, FrameMeasurement } from "./measurement.ts";

/** Side of the square in which a face and its surroundings are compared. Half: hair and ears are a few pixels. Twice: 16 times the work. */
export const surroundingsPixels = 64;
/** Side of that square in heights of the face. Half: hardly anything but the face. Twice: mostly wall. */
const sideInFaces = 1.9;
/** How far its middle lies above that of the face, as a share of its side: there is more of a head above a face than below. */
const raisedShare = 0.08;
/** How far the camera may have moved between the looks, in pixels of the square. Half: a hand that trembles counts as a head. Twice: four times the work. */
const maxShift = 5;
/** Of the pixels of a region that have to be in both pictures. Half: an ear decides. Twice: no face near the edge of a picture is measured. */
const minSeenShare = 0.5;
/** Light may change between the looks, with the colours of the screen. */
const [minGain, maxGain] = [0.7, 1.4];

/** Where the square of a face is in the picture: its upper left corner, and the pixels of the picture for one of the square. */
export function squareWithSurroundings({ x, y, width, height }: Box): {
  readonly left: number;
  readonly top: number;
  readonly step: number;
} {
  const side = sideInFaces * height;
  return {
    left: x + width / 2 - side / 2,
    top: y + height / 2 - side * (0.5 + raisedShare),
    step: side / surroundingsPixels,
  };
}

const pixels = Array.from({ length: surroundingsPixels ** 2 }, (_, at) => {
  const across = (((at % surroundingsPixels) + 0.5) / surroundingsPixels - 0.5) * sideInFaces;
  const row = Math.floor(at / surroundingsPixels);
  const down = ((row + 0.5) / surroundingsPixels - 0.5 - raisedShare) * sideInFaces;
  return { at, across, down };
});
/** The middle of the face: what moves with it when it turns. */
const facePixels = pixels
  .filter(({ across, down }) => (across / 0.36) ** 2 + (down / 0.45) ** 2 < 1)
  .map(({ at }) => at);
/** Around the face, above the shoulders: hair, ears, and what the head hides or sets free when it turns. */
const surroundingPixels = pixels
  .filter(
    ({ across, down }) =>
      (across / 0.52) ** 2 + (down / 0.62) ** 2 > 1 && Math.abs(across) < 0.72 && down < 0.25,
  )
  .map(({ at }) => at);

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

/** Of the turned looks in which it was measured, the mean; null where none was. */
export function surroundingsOf(frames: readonly FrameMeasurement[]): number | null {
  const measured = frames.flatMap(({ face }) =>
    face?.surroundings === undefined ? [] : [face.surroundings],
  );
  return measured.length === 0 ? null : measured.reduce((sum, share) => sum + share, 0) / measured.length;
}

/**
 * Under it a face is bent. Photographs of heads that turn had 0.28 and more, drawn heads before a plain wall 0.13 and
 * more, bent photographs mostly 0.04 to 0.12 (docs/face.md). Half: nine of ten bent pictures pass. Twice: the drawn
 * child without a fringe is refused.
 */
export const minSurroundings = 0.12;

/** Whether the face turned without its surroundings; false where it could not be measured. */
export function isBent(frames: readonly FrameMeasurement[]): boolean {
  const share = surroundingsOf(frames);
  return share !== null && share < minSurroundings;
}

/** Degrees by which a head has to be turned against its straight look. Half: noise decides. Twice: most turns are none. */
const minTurn = 10;
/** And how much nearer or farther it may be. Half: hardly any look is left. Twice: coming closer moves the surroundings, too. */
const maxGrowth = 0.15;

/** The straight look that a turned one is compared with, the nearest in time; null where it is turned too little, or nearer. */
export function straightLookFor(
  turned: FrameMeasurement,
  straight: readonly FrameMeasurement[],
): FrameMeasurement | null {
  const { face, atMs } = turned;
  if (face === null) return null;
  const fits = straight.filter(
    ({ face: other }) =>
      other !== null &&
      Math.max(Math.abs(face.yaw - other.yaw), Math.abs(face.pitch - other.pitch)) >= minTurn &&
      Math.max(face.size / other.size, other.size / face.size) <= 1 + maxGrowth,
  );
  return fits.reduce<FrameMeasurement | null>(
    (least, next) =>
      least === null || Math.abs(next.atMs - atMs) < Math.abs(least.atMs - atMs) ? next : least,
    null,
  );
}
