import { equal, fromHex, readUint8, readUint16, readUint32, startsWith } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";

/** `jp2` is JPEG 2000 in its box file, `j2k` the bare codestream; decoders need to know which. */
export type ImageKind = "jpeg" | "jp2" | "j2k";

export type ImageInfo = {
  readonly kind: ImageKind;
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
};

/** No honest portrait is larger, and a decoder would need hundreds of megabytes. */
const maxImageSidePixels = 8192;
export const maxImagePixels = 25_000_000;
const maxComponents = 4;
const maxTiles = 65_535;
const maxBoxes = 256;

const jp2Signature = fromHex("0000000C 6A502020 0D0A870A");
const codestreamStart = fromHex("FF4F FF51");

/** Recognises the image that starts at the first byte and reads its size from its own header. */
export function readImageInfo(bytes: Uint8Array): ImageInfo {
  if (bytes.length > 3 && bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) {
    return describe("jpeg", bytes, jpegSize(bytes));
  }
  if (startsWith(bytes, jp2Signature)) return describe("jp2", bytes, codestreamSize(jp2Codestream(bytes)));
  if (startsWith(bytes, codestreamStart)) return describe("j2k", bytes, codestreamSize(bytes));
  throw new EmrtdError("IMAGE_UNSUPPORTED", "The image is neither JPEG nor JPEG 2000");
}

type Size = {
  readonly width: number;
  readonly height: number;
};

function describe(kind: ImageKind, bytes: Uint8Array, size: Size): ImageInfo {
  const { width, height } = size;
  if (width < 1 || height < 1) throw new EmrtdError("IMAGE_INVALID", "The image is empty");
  if (width > maxImageSidePixels || height > maxImageSidePixels || width * height > maxImagePixels) {
    throw new EmrtdError("IMAGE_INVALID", "The image is too large");
  }
  return { kind, width, height, bytes };
}

function truncated(): EmrtdError {
  return new EmrtdError("IMAGE_INVALID", "The image ends inside its header");
}

function jpegSize(bytes: Uint8Array): Size {
  let offset = 2;
  while (offset + 4 <= bytes.length) {
    if (bytes[offset] !== 0xff) throw new EmrtdError("IMAGE_INVALID", "A JPEG segment is malformed");
    const marker = bytes[offset + 1] ?? 0;
    if (marker === 0xff) {
      // Any number of fill bytes may precede a marker.
      offset++;
      continue;
    }
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      offset += 2;
      continue;
    }
    if (marker === 0x00 || marker === 0xd8 || marker === 0xd9 || marker === 0xda) {
      throw new EmrtdError("IMAGE_INVALID", "The JPEG has no frame header");
    }
    const length = readUint16(bytes, offset + 2);
    if (length < 2) throw new EmrtdError("IMAGE_INVALID", "A JPEG segment is malformed");
    if (isStartOfFrame(marker)) {
      if (length < 8 || offset + 10 > bytes.length) throw truncated();
      const components = readUint8(bytes, offset + 9);
      if (components < 1 || components > maxComponents) {
        throw new EmrtdError("IMAGE_INVALID", "The JPEG has an impossible number of components");
      }
      return { height: readUint16(bytes, offset + 5), width: readUint16(bytes, offset + 7) };
    }
    offset += 2 + length;
  }
  throw truncated();
}

function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

const boxCodestream = 0x6a703263;
const boxHeader = 0x6a703268;

/**
 * The size comes from the codestream, not from the box beside it,
 * because a decoder allocates for the codestream.
 */
function jp2Codestream(bytes: Uint8Array): Uint8Array {
  let offset = 0;
  let headerSeen = false;
  for (let boxes = 0; boxes < maxBoxes && offset + 8 <= bytes.length; boxes++) {
    const short = readUint32(bytes, offset);
    const type = readUint32(bytes, offset + 4);
    let contentStart = offset + 8;
    let end = offset + short;
    if (short === 0) end = bytes.length;
    if (short === 1) {
      if (offset + 16 > bytes.length) throw truncated();
      if (readUint32(bytes, offset + 8) !== 0) throw truncated();
      contentStart = offset + 16;
      end = offset + readUint32(bytes, offset + 12);
    }
    if (end < contentStart || end > bytes.length) throw truncated();
    if (type === boxHeader) headerSeen = true;
    if (type === boxCodestream) {
      if (!headerSeen) throw new EmrtdError("IMAGE_INVALID", "The JP2 file has no header box");
      return bytes.subarray(contentStart, end);
    }
    offset = end;
  }
  throw new EmrtdError("IMAGE_INVALID", "The JP2 file has no codestream");
}

function codestreamSize(bytes: Uint8Array): Size {
  if (bytes.length < 42) throw truncated();
  if (!equal(bytes.subarray(0, 4), codestreamStart)) {
    throw new EmrtdError("IMAGE_INVALID", "The JPEG 2000 codestream does not start with its size");
  }
  const [right, bottom] = [readUint32(bytes, 8), readUint32(bytes, 12)];
  const [left, top] = [readUint32(bytes, 16), readUint32(bytes, 20)];
  const [tileWidth, tileHeight] = [readUint32(bytes, 24), readUint32(bytes, 28)];
  const components = readUint16(bytes, 40);
  if (left >= right || top >= bottom || tileWidth === 0 || tileHeight === 0) {
    throw new EmrtdError("IMAGE_INVALID", "The JPEG 2000 size is impossible");
  }
  if (components < 1 || components > maxComponents) {
    throw new EmrtdError("IMAGE_INVALID", "The JPEG 2000 codestream has an impossible number of components");
  }
  if (Math.ceil(right / tileWidth) * Math.ceil(bottom / tileHeight) > maxTiles) {
    throw new EmrtdError("IMAGE_INVALID", "The JPEG 2000 codestream has too many tiles");
  }
  return { width: right - left, height: bottom - top };
}
