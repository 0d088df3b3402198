import type { FrameMeasurement } from "./measurement.ts";
import { median } from "./median.ts";

/**
 * Side of the analysed square, a power of two. Smaller: misses stripes of more than 16 pixels. Doubled: as
 * large as the face, and four times the work (about 1 ms).
 */
export const patternPixels = 64;
/**
 * Waves over the square: slower ones belong to the face. Lower: eyes and mouth become patterns. Higher:
 * misses wide bands of a screen.
 */
const minWaves = 6;
/** JPEG has squares of this side, whose edges form a pattern. */
const jpegSide = 8;

/**
 * How far the strongest wave exceeds similar ones: the maximum of the power spectrum over the median of waves
 * of the same fineness. Screen pixels seen by a camera (moiré) and rolling screen lines (banding) are such
 * waves; skin, hair and noise are not. `light`: a square of `patternPixels`, row by row.
 */
export function patternOf(light: ArrayLike<number>): number {
  const side = patternPixels;
  const power = spectrumOf(light);
  const rings: number[][] = Array.from({ length: side / 2 + 1 }, () => []);
  const waves: { ring: number; value: number }[] = [];
  for (let row = 0; row < side; row++)
    for (let column = 0; column <= side / 2; column++) {
      const down = row <= side / 2 ? row : row - side;
      const ring = Math.round(Math.hypot(down, column));
      if (ring < minWaves || ring > side / 2 || isOfJpeg(down) || isOfJpeg(column)) continue;
      const value = power[row * side + column] ?? 0;
      rings[ring]?.push(value);
      waves.push({ ring, value });
    }
  const middles = rings.map(median);
  return waves.reduce((most, { ring, value }) => Math.max(most, value / ((middles[ring] ?? 0) + 1e-9)), 0);
}

/** Waves that the edges of JPEG's squares make; those without any are the face's own up and down. */
function isOfJpeg(waves: number): boolean {
  return waves !== 0 && waves % (patternPixels / jpegSide) === 0;
}

/** The median of the frames in which it was measured. */
export function screenPattern(frames: readonly FrameMeasurement[]): number | null {
  const measured = frames.flatMap(({ face }) => (face?.pattern === undefined ? [] : [face.pattern]));
  return measured.length === 0 ? null : median(measured);
}

/** The power of each wave, after a window (Hann) that fades the edges out. */
function spectrumOf(light: ArrayLike<number>): Float64Array {
  const side = patternPixels;
  const mean = Array.from(light).reduce((sum, value) => sum + value, 0) / light.length;
  const real = new Float64Array(side * side);
  const imaginary = new Float64Array(side * side);
  const fade = Array.from({ length: side }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / side));
  for (let row = 0; row < side; row++)
    for (let column = 0; column < side; column++) {
      const at = row * side + column;
      real[at] = ((light[at] ?? 0) - mean) * (fade[row] ?? 0) * (fade[column] ?? 0);
    }
  for (let line = 0; line < side; line++) transform(real, imaginary, line * side, 1);
  for (let line = 0; line < side; line++) transform(real, imaginary, line, side);
  return real.map((value, at) => value ** 2 + (imaginary[at] ?? 0) ** 2);
}

/** The fast Fourier transform of one line, in place. */
function transform(real: Float64Array, imaginary: Float64Array, start: number, step: number): void {
  const size = patternPixels;
  const at = (index: number) => start + index * step;
  for (let index = 1, swapped = 0; index < size; index++) {
    let bit = size >> 1;
    for (; (swapped & bit) !== 0; bit >>= 1) swapped ^= bit;
    swapped ^= bit;
    if (index >= swapped) continue;
    for (const values of [real, imaginary]) {
      const kept = values[at(index)] ?? 0;
      values[at(index)] = values[at(swapped)] ?? 0;
      values[at(swapped)] = kept;
    }
  }
  for (let length = 2; length <= size; length *= 2) {
    const angle = (-2 * Math.PI) / length;
    for (let from = 0; from < size; from += length)
      for (let index = 0; index < length / 2; index++) {
        const [upper, lower] = [at(from + index), at(from + index + length / 2)];
        const [cos, sin] = [Math.cos(angle * index), Math.sin(angle * index)];
        const [re, im] = [real[lower] ?? 0, imaginary[lower] ?? 0];
        const [turnedRe, turnedIm] = [re * cos - im * sin, re * sin + im * cos];
        real[lower] = (real[upper] ?? 0) - turnedRe;
        imaginary[lower] = (imaginary[upper] ?? 0) - turnedIm;
        real[upper] = (real[upper] ?? 0) + turnedRe;
        imaginary[upper] = (imaginary[upper] ?? 0) + turnedIm;
      }
  }
}
