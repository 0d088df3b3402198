import { logoLimits, type logoTypes } from "@assay/contract/organization-logo";
import type { Picture } from "@assay/contract/route";
import { readImageInfo } from "@assay/emrtd/lds/image";
import { type InsideProblem, jpegProblem, pngProblem, webpProblem } from "./logo-chunks.ts";

export type Logo = Picture<(typeof logoTypes)[number]>;
export type LogoProblem = "not_a_picture" | "too_many_pixels" | InsideProblem;

type Size = { width: number; height: number };

const pngStart = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/**
 * The first bytes determine the type of the picture; the sender's content type does not count. SVG is
 * refused: it can contain scripts and load resources.
 */
export function readLogo(bytes: Buffer): Logo | LogoProblem {
  const png = pngSize(bytes);
  const webp = png === null ? webpSize(bytes) : null;
  const size = png ?? webp ?? jpegSize(bytes);
  if (size === null || size.width < 1 || size.height < 1) return "not_a_picture";
  if (Math.max(size.width, size.height) > logoLimits.sidePixels) return "too_many_pixels";
  const inside = png ? pngProblem(bytes) : webp ? webpProblem(bytes) : jpegProblem(bytes);
  if (inside !== null) return inside;
  return { contentType: png ? "image/png" : webp ? "image/webp" : "image/jpeg", bytes };
}

function pngSize(bytes: Buffer): Size | null {
  if (bytes.length < 33 || !bytes.subarray(0, pngStart.length).equals(pngStart)) return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** The first chunk of a WebP is a lossy frame, a lossless one, or the extended header. */
function webpSize(bytes: Buffer): Size | null {
  if (bytes.length < 30 || ascii(bytes, 0) !== "RIFF" || ascii(bytes, 8) !== "WEBP") return null;
  switch (ascii(bytes, 12)) {
    case "VP8 ": {
      const keyFrame = ((bytes[20] ?? 1) & 1) === 0 && bytes.readUIntBE(23, 3) === 0x9d012a;
      if (!keyFrame) return null;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    }
    case "VP8L": {
      if (bytes[20] !== 0x2f) return null;
      const packed = bytes.readUInt32LE(21);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

function jpegSize(bytes: Buffer): Size | null {
  try {
    const { kind, width, height } = readImageInfo(bytes);
    return kind === "jpeg" ? { width, height } : null;
  } catch {
    return null;
  }
}

function ascii(bytes: Buffer, offset: number): string {
  return bytes.toString("latin1", offset, offset + 4);
}
