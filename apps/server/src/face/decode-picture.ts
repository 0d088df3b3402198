import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type ImageKind, readImageInfo } from "@assay/emrtd/lds/image";
import { decode as decodeJpeg } from "jpeg-js";

/** Three bytes a pixel, row by row. */
export type Picture = {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
};

export class PictureError extends Error {}

type OpenJpegDecoder = {
  getEncodedBuffer(length: number): Uint8Array;
  getDecodedBuffer(): Uint8Array;
  decode(): void;
  getFrameInfo(): {
    width: number;
    height: number;
    bitsPerSample: number;
    componentCount: number;
    isSigned: boolean;
  };
  delete(): void;
};

type OpenJpeg = {
  J2KDecoder: new () => OpenJpegDecoder;
};

let openJpeg: Promise<OpenJpeg> | null = null;

function loadOpenJpeg(): Promise<OpenJpeg> {
  const require = createRequire(import.meta.url);
  const create = require("@cornerstonejs/codec-openjpeg/decodewasmjs") as (options: {
    wasmBinary: Uint8Array;
    print(): void;
    printErr(): void;
  }) => Promise<OpenJpeg>;
  const wasmBinary = readFileSync(require.resolve("@cornerstonejs/codec-openjpeg/decodewasm"));
  return create({ wasmBinary, print() {}, printErr() {} });
}

/**
 * The size is read from the header by our own reader before a decoder sees the bytes, so that nobody can ask for memory by
 * writing a large number. A decoder that loops is stopped from outside, with the process.
 */
export async function decodePicture(
  bytes: Uint8Array,
  limits: { readonly kinds: readonly ImageKind[]; readonly maxPixels: number },
): Promise<Picture> {
  const { kind, width, height } = headerOf(bytes);
  if (!limits.kinds.includes(kind)) throw new PictureError("The picture is of a kind that is not taken here");
  if (width * height > limits.maxPixels) throw new PictureError("The picture has too many pixels");
  const picture = kind === "jpeg" ? decodeAsJpeg(bytes, limits.maxPixels) : await decodeAsJpeg2000(bytes);
  if (picture.width !== width || picture.height !== height)
    throw new PictureError("The picture is not of the size its header tells");
  return picture;
}

function headerOf(bytes: Uint8Array) {
  try {
    return readImageInfo(bytes);
  } catch {
    throw new PictureError("The picture has no header that can be read");
  }
}

function decodeAsJpeg(bytes: Uint8Array, maxPixels: number): Picture {
  try {
    const { width, height, data } = decodeJpeg(bytes, {
      useTArray: true,
      formatAsRGBA: false,
      tolerantDecoding: false,
      maxResolutionInMP: maxPixels / 1e6,
      // By hand, inside the worker's 900 MB; a frame of the page needs a few. Neither half nor twice was tried.
      maxMemoryUsageInMB: 160,
    });
    return { width, height, rgb: data };
  } catch {
    throw new PictureError("The picture is no JPEG that can be decoded");
  }
}

async function decodeAsJpeg2000(bytes: Uint8Array): Promise<Picture> {
  openJpeg ??= loadOpenJpeg();
  const { J2KDecoder } = await openJpeg;
  const decoder = new J2KDecoder();
  try {
    decoder.getEncodedBuffer(bytes.length).set(bytes);
    decoder.decode();
    const { width, height, componentCount, bitsPerSample, isSigned } = decoder.getFrameInfo();
    const samples = decoder.getDecodedBuffer();
    if (bitsPerSample !== 8 || isSigned || (componentCount !== 1 && componentCount !== 3))
      throw new PictureError("The picture is neither grey nor colour of eight bits");
    if (samples.length < width * height * componentCount)
      throw new PictureError("The picture is shorter than its size");
    const rgb = new Uint8Array(width * height * 3);
    for (let pixel = 0; pixel < width * height; pixel++) {
      for (let channel = 0; channel < 3; channel++)
        rgb[pixel * 3 + channel] = samples[componentCount === 1 ? pixel : pixel * 3 + channel] ?? 0;
    }
    return { width, height, rgb };
  } catch (error) {
    // The decoder throws numbers and texts of its own; after that its memory is not to be trusted.
    openJpeg = null;
    if (error instanceof PictureError) throw error;
    throw new PictureError("The picture is no JPEG 2000 that can be decoded");
  } finally {
    try {
      decoder.delete();
    } catch {
      // Only reached after the decoder has broken, and the whole instance is dropped then.
    }
  }
}
