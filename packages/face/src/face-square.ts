import type { Box } from "./measurement.ts";

/**
 * Side of the square in which a face and its surroundings are compared. Smaller: hair and ears are only a few
 * pixels. Doubled: 16 times the work.
 */
export const surroundingsPixels = 64;
/** Side of that square in heights of the face. Smaller: hardly anything but the face. Larger: mostly wall. */
const sideInFaces = 1.9;
/**
 * How far its middle is above that of the face, as a share of its side: a head extends further above a face.
 */
const raisedShare = 0.08;

/** The square of a face in the picture: its upper left corner, and picture pixels per pixel of the square. */
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
export const facePixels = pixels
  .filter(({ across, down }) => (across / 0.36) ** 2 + (down / 0.45) ** 2 < 1)
  .map(({ at }) => at);
/** Centres of the face blocks that `unexplainedShare` looks for in the turned look, every fourth pixel. */
export const faceBlocks = facePixels
  .map((at) => ({ x: at % surroundingsPixels, y: Math.floor(at / surroundingsPixels) }))
  .filter(({ x, y }) => x % 4 === 0 && y % 4 === 2);
/** Around the face, above the shoulders: hair, ears, and what the head hides or sets free when it turns. */
export const surroundingPixels = pixels
  .filter(
    ({ across, down }) =>
      (across / 0.52) ** 2 + (down / 0.62) ** 2 > 1 && Math.abs(across) < 0.72 && down < 0.25,
  )
  .map(({ at }) => at);
