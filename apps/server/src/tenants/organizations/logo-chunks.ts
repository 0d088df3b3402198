import { inflateSync } from "node:zlib";

/** What is wrong inside a picture with a valid beginning. */
export type InsideProblem = "no_image_data" | "animated" | "too_much_inside";

/** Pictures of 256 KiB have a handful of chunks; more would only cost time. */
const maxParts = 2000;
/**
 * Colour profiles and texts take kilobytes. A compressed one may grow a thousandfold when it is read
 * (decompression bomb).
 */
const maxInflatedBytes = 1024 * 1024;
/** Compressed data has a header, a block and a checksum. */
const minDataBytes = 8;

const pngAnimation = new Set(["acTL", "fcTL", "fdAT"]);
const webpAnimation = new Set(["ANIM", "ANMF"]);
const webpAnimationFlag = 0x02;

export function pngProblem(bytes: Buffer): InsideProblem | null {
  let dataBytes = 0;
  let at = 8;
  for (let part = 0; part < maxParts && at + 12 <= bytes.length; part++) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (data.length < length) return "no_image_data";
    if (pngAnimation.has(type)) return "animated";
    const packed = packedIn(type, data);
    if (packed !== null && !isInflatable(packed)) return "too_much_inside";
    if (type === "IDAT") dataBytes += length;
    if (type === "IEND") return dataBytes >= minDataBytes ? null : "no_image_data";
    at += 12 + length;
  }
  return "no_image_data";
}

/** The compressed bytes of a profile or a text, after its name; null if there are none. */
function packedIn(type: string, data: Buffer): Buffer | null {
  const nameEnd = data.indexOf(0);
  if (type === "iCCP" || type === "zTXt") return data.subarray(nameEnd + 2);
  if (type !== "iTXt" || data[nameEnd + 1] !== 1) return null;
  // Name, flag, method, language and translated name, each text with its zero.
  const languageEnd = data.indexOf(0, nameEnd + 3);
  return data.subarray(data.indexOf(0, languageEnd + 1) + 1);
}

function isInflatable(packed: Buffer): boolean {
  try {
    inflateSync(packed, { maxOutputLength: maxInflatedBytes });
    return true;
  } catch {
    return false;
  }
}

export function webpProblem(bytes: Buffer): InsideProblem | null {
  let hasFrame = false;
  let at = 12;
  for (let part = 0; part < maxParts && at + 8 <= bytes.length; part++) {
    const type = bytes.toString("latin1", at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    if (at + 8 + length > bytes.length) return "no_image_data";
    if (webpAnimation.has(type)) return "animated";
    if (type === "VP8X" && ((bytes[at + 8] ?? 0) & webpAnimationFlag) !== 0) return "animated";
    if ((type === "VP8 " || type === "VP8L") && length >= minDataBytes) hasFrame = true;
    at += 8 + length + (length % 2);
  }
  return hasFrame ? null : "no_image_data";
}

/** Reads the segments up to the scan, which must not be empty. */
export function jpegProblem(bytes: Buffer): InsideProblem | null {
  let at = 2;
  for (let part = 0; part < maxParts && at + 4 <= bytes.length; part++) {
    if (bytes[at] !== 0xff) return "no_image_data";
    const marker = bytes[at + 1];
    // Fill bytes may precede a marker.
    if (marker === 0xff) at += 1;
    else {
      at += 2 + bytes.readUInt16BE(at + 2);
      if (marker === 0xda) return bytes.length - at >= 2 && bytes[at] !== 0xff ? null : "no_image_data";
    }
  }
  return "no_image_data";
}
