import {
  concat,
  fromHex,
  hasAt,
  latin1,
  readUint8,
  readUint16,
  readUint32,
  startsWith,
  uintBytes,
} from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { FaceImage, FaceWarning } from "./face-image.ts";
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
export function readFaces19794(block: Uint8Array): {
  readonly faces: readonly FaceImage[];
  readonly warnings: readonly FaceWarning[];
} {
  if (block.length < recordHeaderBytes || !isFace19794(block)) {
    throw new EmrtdError("LDS_INVALID", "The facial record has no header");
  }
  if (!versions.some((known) => hasAt(block, formatMark.length, known))) {
    throw new EmrtdError("LDS_UNSUPPORTED", "The facial record has an unknown version");
  }
  const warnings: FaceWarning[] = [];
  // At least one state leaves the first eight bytes out of the length, so reading must not depend on it.
  if (readUint32(block, 8) !== block.length) warnings.push("RECORD_LENGTH_WRONG");
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
    const imageHeader = offset + faceHeaderBytes + points * featurePointBytes;
    const imageStart = imageHeader + imageHeaderBytes;
    let end = offset + length;
    if (count === 1 && end !== block.length) {
      warnings.push("FACE_LENGTH_WRONG");
      end = block.length;
    }
    if (imageStart > end || end > block.length) {
      throw new EmrtdError("LDS_INVALID", "A face is longer than the facial record");
    }
    const declared = readUint8(block, imageHeader + 1);
    const image = readImageInfo(block.subarray(imageStart, end));
    const declaredKind = declared === 0 ? "jpeg" : declared === 1 ? "jpeg2000" : "other";
    if (declaredKind !== (image.kind === "jpeg" ? "jpeg" : "jpeg2000")) warnings.push("IMAGE_KIND_MISSTATED");
    if (
      readUint16(block, imageHeader + 2) !== image.width ||
      readUint16(block, imageHeader + 4) !== image.height
    ) {
      warnings.push("IMAGE_SIZE_MISSTATED");
    }
    faces.push({ encoding: "ISO_19794_5", image });
    offset = end;
  }
  return { faces, warnings };
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
