import { type Chip, chipPixels } from "@assay/face/face-chip";
import type { Box } from "@assay/face/measurement";
import type { DecodedPicture } from "./decode-picture.ts";

/** The mean colour of the training data, which was subtracted from every pixel. */
export type MeanColour = readonly [red: number, green: number, blue: number];

/**
 * Resamples a square of the picture bilinearly, from 0 to 1 less the mean colour, channel by channel into
 * `pixels`. `outside` gives the brightness outside of the picture, 0 if absent.
 */
export function samplePicture(
  { rgb, width, height }: DecodedPicture,
  pixels: Float32Array,
  size: number,
  from: {
    readonly left: number;
    readonly top: number;
    readonly step: number;
    readonly mean: MeanColour;
    readonly outside?: (x: number, y: number) => number;
  },
): void {
  const { left, top, step, outside } = from;
  const area = size * size;
  const [red, green, blue] = from.mean;
  const [lastX, lastY] = outside === undefined ? [width, height] : [width - 1, height - 1];
  // Every row samples the same columns, so their positions and shares are computed once.
  const columns = new Int32Array(size);
  const shares = new Float32Array(size);
  for (let column = 0; column < size; column++) {
    const x = left + column * step;
    columns[column] = x < 0 || x > lastX ? -1 : Math.floor(x) * 3;
    shares[column] = x - Math.floor(x);
  }
  for (let row = 0; row < size; row++) {
    const y = top + row * step;
    const inside = y >= 0 && y <= lastY;
    const y0 = Math.floor(y);
    const v = y - y0;
    const upper = y0 * width * 3;
    const lower = y0 + 1 < height ? upper + width * 3 : upper;
    for (let column = 0; column < size; column++) {
      const to = row * size + column;
      const x0 = columns[column] ?? -1;
      if (!inside || x0 < 0) {
        const value = outside?.(left + column * step, y) ?? 0;
        pixels[to] = (value - red) / 255;
        pixels[to + area] = (value - green) / 255;
        pixels[to + 2 * area] = (value - blue) / 255;
        continue;
      }
      const u = shares[column] ?? 0;
      const x1 = x0 + 3 < width * 3 ? x0 + 3 : x0;
      const [a, b, c, d] = [upper + x0, upper + x1, lower + x0, lower + x1];
      // Unrolled, with every index inside the picture: a loop over the channels takes three times as long.
      const upperRed = byteAt(rgb, a) * (1 - u) + byteAt(rgb, b) * u;
      const lowerRed = byteAt(rgb, c) * (1 - u) + byteAt(rgb, d) * u;
      const upperGreen = byteAt(rgb, a + 1) * (1 - u) + byteAt(rgb, b + 1) * u;
      const lowerGreen = byteAt(rgb, c + 1) * (1 - u) + byteAt(rgb, d + 1) * u;
      const upperBlue = byteAt(rgb, a + 2) * (1 - u) + byteAt(rgb, b + 2) * u;
      const lowerBlue = byteAt(rgb, c + 2) * (1 - u) + byteAt(rgb, d + 2) * u;
      pixels[to] = (upperRed + (lowerRed - upperRed) * v - red) / 255;
      pixels[to + area] = (upperGreen + (lowerGreen - upperGreen) * v - green) / 255;
      pixels[to + 2 * area] = (upperBlue + (lowerBlue - upperBlue) * v - blue) / 255;
    }
  }
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

/** Samples across a pixel of the chip. Too few: large faces alias. Too many: portraits take longer. */
const maxLooks = 4;

/** Part of a picture in whole pixels, inside of it. */
export type Cut = Box;

/** The part of a box inside the picture; null if there is none. */
export function cutOf({ width, height }: DecodedPicture, box: Box): Cut | null {
  const [x, y] = [Math.max(box.x, 0), Math.max(box.y, 0)];
  const cut = {
    x: Math.floor(x),
    y: Math.floor(y),
    width: Math.floor(Math.min(box.x + box.width - x, width - x)),
    height: Math.floor(Math.min(box.y + box.height - y, height - y)),
  };
  return cut.width > 0 && cut.height > 0 ? cut : null;
}

/** A cut in the middle of a black square, at another size. */
export function sampleCut(
  { rgb, width }: DecodedPicture,
  pixels: Float32Array,
  size: number,
  cut: Cut,
  mean: MeanColour,
): void {
  const side = Math.max(cut.width, cut.height);
  const [left, top] = [Math.floor((side - cut.width) / 2), Math.floor((side - cut.height) / 2)];
  const square = new Uint8Array(side * side * 3);
  for (let row = 0; row < cut.height; row++) {
    const start = ((cut.y + row) * width + cut.x) * 3;
    square.set(rgb.subarray(start, start + cut.width * 3), ((top + row) * side + left) * 3);
  }
  samplePicture({ rgb: square, width: side, height: side }, pixels, size, {
    left: 0,
    top: 0,
    step: side / size,
    mean,
  });
}

/** Maps the points of a cut to the picture. They are shares of the square that `sampleCut` showed. */
export function pointsInPicture(points: ArrayLike<number>, cut: Cut): Float64Array {
  const side = Math.max(cut.width, cut.height);
  const [left, top] = [cut.x - (side - cut.width) / 2, cut.y - (side - cut.height) / 2];
  return Float64Array.from(points, (share, index) => share * side + (index % 2 === 0 ? left : top));
}

/** A face rotated upright and scaled, like `samplePicture`. Black outside of the picture. */
export function sampleChip(
  { rgb, width, height }: DecodedPicture,
  pixels: Float32Array,
  { left, top, along, across }: Chip,
  mean: MeanColour,
): void {
  const area = chipPixels * chipPixels;
  // Every pixel of a large face counts, or fine patterns become coarse ones (aliasing).
  const looks = Math.min(Math.max(Math.ceil(Math.hypot(along, across)), 1), maxLooks);
  for (let row = 0; row < chipPixels; row++)
    for (let column = 0; column < chipPixels; column++) {
      let [red, green, blue] = [0, 0, 0];
      for (let look = 0; look < looks * looks; look++) {
        const u = column + ((look % looks) + 0.5) / looks - 0.5;
        const v = row + (Math.floor(look / looks) + 0.5) / looks - 0.5;
        const [x, y] = [left + along * u - across * v, top + across * u + along * v];
        // Written so that NaN counts as outside.
        if (!(x >= 0 && y >= 0 && x <= width - 1 && y <= height - 1)) continue;
        const [x0, y0] = [Math.floor(x), Math.floor(y)];
        const [right, down] = [x0 + 1 < width ? 3 : 0, y0 + 1 < height ? width * 3 : 0];
        const at = (y0 * width + x0) * 3;
        const [dx, dy] = [x - x0, y - y0];
        const [a, b, c, d] = [(1 - dx) * (1 - dy), dx * (1 - dy), (1 - dx) * dy, dx * dy];
        red += a * byteAt(rgb, at) + b * byteAt(rgb, at + right);
        red += c * byteAt(rgb, at + down) + d * byteAt(rgb, at + down + right);
        green += a * byteAt(rgb, at + 1) + b * byteAt(rgb, at + right + 1);
        green += c * byteAt(rgb, at + down + 1) + d * byteAt(rgb, at + down + right + 1);
        blue += a * byteAt(rgb, at + 2) + b * byteAt(rgb, at + right + 2);
        blue += c * byteAt(rgb, at + down + 2) + d * byteAt(rgb, at + down + right + 2);
      }
      const to = row * chipPixels + column;
      const all = looks * looks;
      pixels[to] = (red / all - mean[0]) / 255;
      pixels[to + area] = (green / all - mean[1]) / 255;
      pixels[to + 2 * area] = (blue / all - mean[2]) / 255;
    }
}
