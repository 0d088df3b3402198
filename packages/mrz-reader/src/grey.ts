import type { Homography } from "./geometry.ts";
import type { Plane } from "./network.ts";

/** Brightness from 0 to 1 of an RGB picture, with or without a fourth byte (alpha). */
export function greyOf(
  pixels: Uint8ClampedArray | Uint8Array,
  width: number,
  height: number,
  bytesEach: 3 | 4 = 4,
): Plane {
  const data = new Float32Array(width * height);
  for (let index = 0, at = 0; index < data.length; index++, at += bytesEach)
    data[index] =
      (0.299 * (pixels[at] ?? 0) + 0.587 * (pixels[at + 1] ?? 0) + 0.114 * (pixels[at + 2] ?? 0)) / 255;
  return { width, height, data };
}

/** The size at which the longer side has this many pixels, each side a multiple of `multiple`. */
export function sizeFor(plane: Plane, longSide: number, multiple: number): { width: number; height: number } {
  const factor = longSide / Math.max(plane.width, plane.height);
  const side = (pixels: number) => Math.max(multiple, Math.round((pixels * factor) / multiple) * multiple);
  return { width: side(plane.width), height: side(plane.height) };
}

/** Every new pixel is the mean of the old ones that it touches, as in training (adaptive average pooling). */
export function shrink(plane: Plane, width: number, height: number): Plane {
  if (plane.width === width && plane.height === height) return plane;
  // Columns first, each row separately: then every pixel is read once per direction.
  const columns = windows(plane.width, width);
  const rows = windows(plane.height, height);
  const narrow = new Float32Array(width * plane.height);
  for (let y = 0; y < plane.height; y++) {
    const row = y * plane.width;
    for (let x = 0; x < width; x++) {
      const [from, to] = [columns[x * 2] ?? 0, columns[x * 2 + 1] ?? 1];
      let sum = 0;
      for (let at = from; at < to; at++) sum += plane.data[row + at] ?? 0;
      narrow[y * width + x] = sum / (to - from);
    }
  }
  const data = new Float32Array(width * height);
  for (let y = 0; y < height; y++) {
    const [from, to] = [rows[y * 2] ?? 0, rows[y * 2 + 1] ?? 1];
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let at = from; at < to; at++) sum += narrow[at * width + x] ?? 0;
      data[y * width + x] = sum / (to - from);
    }
  }
  return { width, height, data };
}

function windows(from: number, to: number): Int32Array {
  return Int32Array.from({ length: to * 2 }, (_, index) => {
    const at = index >> 1;
    return index % 2 === 0 ? Math.floor((at * from) / to) : Math.ceil(((at + 1) * from) / to);
  });
}

/**
 * Resamples a picture through a map: each result pixel is the mean of four points of its square. `place` is
 * the upper left corner of the result in the map's plane, and the size of a pixel there.
 */
export function straighten(
  plane: Plane,
  map: Homography,
  width: number,
  height: number,
  place: { readonly x: number; readonly y: number; readonly stepX: number; readonly stepY: number },
): Plane {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 1] = map;
  const [right, low] = [plane.width - 1, plane.height - 1];
  // A picture of one row or column has no neighbour to mix with.
  const [lastLeft, lastTop] = [Math.max(0, right - 1), Math.max(0, low - 1)];
  const [next, under] = [right > 0 ? 1 : 0, low > 0 ? plane.width : 0];
  const source = plane.data;
  const data = new Float32Array(width * height);
  for (let y = 0; y < height * 2; y++) {
    const v = place.y + ((y + 0.5) / 2) * place.stepY;
    for (let x = 0; x < width * 2; x++) {
      const u = place.x + ((x + 0.5) / 2) * place.stepX;
      const w = g * u + h * v + i;
      const px = Math.min(right, Math.max(0, (a * u + b * v + c) / w - 0.5));
      const py = Math.min(low, Math.max(0, (d * u + e * v + f) / w - 0.5));
      const left = Math.min(px | 0, lastLeft);
      const top = Math.min(py | 0, lastTop);
      const dx = px - left;
      const dy = py - top;
      const at = top * plane.width + left;
      const upper = (source[at] ?? 0) * (1 - dx) + (source[at + next] ?? 0) * dx;
      const lower = (source[at + under] ?? 0) * (1 - dx) + (source[at + under + next] ?? 0) * dx;
      const to = (y >> 1) * width + (x >> 1);
      data[to] = (data[to] ?? 0) + (upper * (1 - dy) + lower * dy) / 4;
    }
  }
  return { width, height, data };
}

/** Mean 0 and deviation about 1; `floor` keeps a picture without contrast from becoming all noise. */
export function standardised(plane: Plane, floor: number): Plane {
  const { data } = plane;
  let [sum, squares] = [0, 0];
  for (const value of data) sum += value;
  const mean = sum / data.length;
  for (const value of data) squares += (value - mean) ** 2;
  const spread = Math.sqrt(squares / data.length) + floor;
  const out = new Float32Array(data.length);
  for (let at = 0; at < out.length; at++) out[at] = ((data[at] ?? 0) - mean) / spread;
  return { ...plane, data: out };
}
