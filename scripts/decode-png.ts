import { inflateSync } from "node:zlib";

/** Three bytes a pixel, row by row. */
export type Pixels = { readonly width: number; readonly height: number; readonly rgb: Uint8Array };

export class PngError extends Error {}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/**
 * Samples per pixel by the colour type of the header:
 * grey, colour, palette, and the first two with transparency.
 */
const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/**
 * Reads pictures of eight bits per sample without interlacing, as phones and scanners write them. Compares
 * every number of the file with `maxPixels` before it allocates.
 */
export function decodePng(bytes: Buffer, maxPixels: number): Pixels {
  if (!bytes.subarray(0, 8).equals(signature)) throw new PngError("This is no PNG");
  const parts: Buffer[] = [];
  let palette: Buffer | null = null;
  let header: Buffer | null = null;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (at + 12 + length > bytes.length) throw new PngError("The picture ends too early");
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") header = body;
    else if (name === "PLTE") palette = body;
    else if (name === "IDAT") parts.push(body);
    else if (name === "IEND") break;
    at += 12 + length;
  }
  if (header === null || header.length !== 13) throw new PngError("The picture has no header");
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const samples = samplesOf[header[9] ?? -1];
  if (samples === undefined || header[8] !== 8 || header[12] !== 0)
    throw new PngError("Only pictures of eight bits a sample that are not interlaced are read");
  if (width === 0 || height === 0 || width * height > maxPixels)
    throw new PngError("The picture has too many pixels, or none");
  const rows = unfiltered(unpacked(parts, (width * samples + 1) * height), width * samples, height, samples);
  return { width, height, rgb: coloursOf(rows, samples, header[9] === 3 ? palette : null) };
}

function unpacked(parts: readonly Buffer[], length: number): Buffer {
  try {
    const data = inflateSync(Buffer.concat(parts), { maxOutputLength: length });
    if (data.length === length) return data;
  } catch {
    // Reported below.
  }
  throw new PngError("The picture cannot be decoded");
}

/** Each row holds differences to its left, upper and upper left neighbours, in one of five ways. */
function unfiltered(data: Buffer, stride: number, height: number, step: number): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const kind = data[y * (stride + 1)] ?? 0;
    if (kind > 4) throw new PngError("The picture cannot be decoded");
    for (let x = 0; x < stride; x++) {
      const left = x < step ? 0 : (out[y * stride + x - step] ?? 0);
      const up = y === 0 ? 0 : (out[(y - 1) * stride + x] ?? 0);
      const corner = x < step || y === 0 ? 0 : (out[(y - 1) * stride + x - step] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][kind] ?? 0;
      out[y * stride + x] = (data[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return out;
}

function nearest(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function coloursOf(rows: Uint8Array, samples: number, palette: Buffer | null): Uint8Array {
  const pixels = rows.length / samples;
  const rgb = new Uint8Array(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++)
    for (let channel = 0; channel < 3; channel++) {
      const first = rows[pixel * samples] ?? 0;
      rgb[pixel * 3 + channel] =
        palette !== null
          ? (palette[first * 3 + channel] ?? 0)
          : samples < 3
            ? first
            : (rows[pixel * samples + channel] ?? 0);
    }
  return rgb;
}
