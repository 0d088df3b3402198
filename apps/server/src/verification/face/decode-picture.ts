import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type ImageKind, readImageInfo } from "@assay/emrtd/lds/image";

/** Three bytes a pixel, row by row. */
export type DecodedPicture = {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
};

export class PictureError extends Error {}

/** The interface of both codecs: C and C++ libraries in WebAssembly, so a fault in one harms nothing else. */
type Decoder = {
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

class Codec {
  readonly #packageName: string;
  readonly #decoderName: string;
  #loaded: Promise<new () => Decoder> | null = null;

  constructor(packageName: string, decoderName: string) {
    this.#packageName = packageName;
    this.#decoderName = decoderName;
  }

  async #load(): Promise<new () => Decoder> {
    const require = createRequire(import.meta.url);
    const create = require(`${this.#packageName}/decodewasmjs`) as (options: {
      wasmBinary: Uint8Array;
      print(): void;
      printErr(): void;
    }) => Promise<Readonly<Record<string, new () => Decoder>>>;
    const wasmBinary = readFileSync(require.resolve(`${this.#packageName}/decodewasm`));
    const found = (await create({ wasmBinary, print() {}, printErr() {} }))[this.#decoderName];
    if (found === undefined) throw new Error(`${this.#packageName} has no ${this.#decoderName}`);
    return found;
  }

  async decode(bytes: Uint8Array): Promise<DecodedPicture> {
    this.#loaded ??= this.#load();
    const decoder = new (await this.#loaded)();
    try {
      decoder.getEncodedBuffer(bytes.length).set(bytes);
      decoder.decode();
      const { width, height, componentCount, bitsPerSample, isSigned } = decoder.getFrameInfo();
      if (bitsPerSample !== 8 || isSigned || (componentCount !== 1 && componentCount !== 3))
        throw new PictureError("The picture is neither grey nor colour of eight bits");
      const samples = decoder.getDecodedBuffer();
      if (samples.length < width * height * componentCount)
        throw new PictureError("The picture is shorter than its size");
      return { width, height, rgb: coloursOf(samples, width * height, componentCount) };
    } catch (error) {
      // The decoder throws numbers and strings. After that its memory is not reliable.
      this.#loaded = null;
      if (error instanceof PictureError) throw error;
      throw new PictureError("The picture cannot be decoded");
    } finally {
      try {
        decoder.delete();
      } catch {
        // Only reached after the decoder has broken, and the whole instance is dropped then.
      }
    }
  }
}

/** A copy: the decoder uses its memory for the next picture. */
function coloursOf(samples: Uint8Array, pixels: number, componentCount: number): Uint8Array {
  if (componentCount === 3) return new Uint8Array(samples.subarray(0, pixels * 3));
  const rgb = new Uint8Array(pixels * 3);
  for (let at = 0; at < rgb.length; at++) rgb[at] = samples[Math.floor(at / 3)] ?? 0;
  return rgb;
}

const jpegCodec = new Codec("@cornerstonejs/codec-libjpeg-turbo-8bit", "JPEGDecoder");
const jpeg2000Codec = new Codec("@cornerstonejs/codec-openjpeg", "J2KDecoder");

/**
 * Each scan of a progressive JPEG costs a pass over the whole picture, however few bytes it has. Encoders
 * make about ten. A larger limit lets a hostile picture take more time from others.
 */
const maxScans = 100;

/**
 * Our own reader takes the size from the header before a decoder sees the bytes, so that a large number there
 * allocates no memory. A decoder that loops is stopped from outside with its process.
 */
export async function decodePicture(
  bytes: Uint8Array,
  limits: { readonly kinds: readonly ImageKind[]; readonly maxPixels: number },
): Promise<DecodedPicture> {
  const { kind, width, height } = headerOf(bytes);
  if (!limits.kinds.includes(kind)) throw new PictureError("The picture is of a kind that is not taken here");
  if (width * height > limits.maxPixels) throw new PictureError("The picture has too many pixels");
  if (kind === "jpeg" && scansIn(bytes) > maxScans) throw new PictureError("The picture has too many passes");
  return (kind === "jpeg" ? jpegCodec : jpeg2000Codec).decode(bytes);
}

function headerOf(bytes: Uint8Array) {
  try {
    return readImageInfo(bytes);
  } catch {
    throw new PictureError("The picture has no header that can be read");
  }
}

/** At least as many scans as a decoder finds. The marker cannot occur in coded data, only in a comment. */
function scansIn(jpeg: Uint8Array): number {
  let count = 0;
  for (let at = jpeg.indexOf(0xff); at !== -1; at = jpeg.indexOf(0xff, at + 1))
    if (jpeg[at + 1] === 0xda) count++;
  return count;
}
