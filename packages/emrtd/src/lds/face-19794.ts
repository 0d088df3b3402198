import { concat, fromHex, hasAt, latin1, readUint16, readUint32, startsWith, uintBytes } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { FaceImage } from "./face-image.ts";
import { type ImageInfo, readImageInfo } from "./image.ts";

const formatMark = latin1("FAC\0");
const versions = ["010\0", "020\0"].map(latin1);
const recordHeaderBytes = 14;
const faceHeaderBytes = 20;
const featurePointBytes = 8;
const imageHeaderBytes = 12;
const maxFaces = 16;
const noPoints = 0;

export function isFace19794(block: Uint8Array): boolean {
  return startsWith(block, formatMark);
}

/** The facial record of ISO/IEC 19794-5:2005, the format of nearly all documents before 2026. */
export function readFaces19794(block: Uint8Array): readonly FaceImage[] {
  if (block.length < recordHeaderBytes || !isFace19794(block)) {
    throw new EmrtdError("LDS_INVALID", "The facial record has no header");
  }
  if (!versions.some((known) => hasAt(block, formatMark.length, known))) {
    throw new EmrtdError("LDS_UNSUPPORTED", "The facial record has an unknown version");
  }
  // At least one state leaves the first eight bytes out of the record's length, so it is not read.
  const count = readUint16(block, 12);
  if (count < 1 || count > maxFaces)
    throw new EmrtdError("LDS_INVALID", "The facial record has no face or too many");
  const faces: FaceImage[] = [];
  let offset = recordHeaderBytes;
  for (let face = 0; face < count; face++) {
    if (block.length - offset < faceHeaderBytes + imageHeaderBytes) {
      throw new EmrtdError("LDS_INVALID", "The facial record ends inside a face");
    }
    const length = readUint32(block, offset);
    const points = readUint16(block, offset + 4);
    const imageStart = offset + faceHeaderBytes + points * featurePointBytes + imageHeaderBytes;
    // Of a single face the length is not believed either.
    const end = count === 1 ? block.length : offset + length;
    if (imageStart > end || end > block.length) {
      throw new EmrtdError("LDS_INVALID", "A face is longer than the facial record");
    }
    faces.push({ encoding: "ISO_19794_5", image: readImageInfo(block.subarray(imageStart, end)) });
    offset = end;
  }
  return faces;
}

export function buildFace19794(image: ImageInfo): Uint8Array {
  const faceLength = faceHeaderBytes + imageHeaderBytes + image.bytes.length;
  return concat(
    formatMark,
    latin1("010\0"),
    uintBytes(recordHeaderBytes + faceLength, 4),
    uintBytes(1, 2),
    uintBytes(faceLength, 4),
    uintBytes(noPoints, 2),
    // Gender, eyes, hair, properties, expression and pose: all unspecified.
    fromHex("00 00 00 000000 0000 000000 000000"),
    // A full frontal image, its coding, its size,
    // 24 bit RGB from an unspecified source and device, quality unspecified.
    Uint8Array.of(1, image.kind === "jpeg" ? 0 : 1),
    uintBytes(image.width, 2),
    uintBytes(image.height, 2),
    fromHex("01 00 0000 0000"),
    image.bytes,
  );
}
