// JPEG of pictures with three bytes a pixel, by libjpeg-turbo. An encoder in JavaScript takes ten times as long.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export type Picture = { readonly width: number; readonly height: number; readonly data: Uint8Array };

type Size = { width: number; height: number };
type Encoder = {
  getDecodedBuffer(frame: Size & { bitsPerSample: 8; componentCount: 3; isSigned: false }): Uint8Array;
  setQuality(quality: number): void;
  setProgressive(isProgressive: boolean): void;
  setSubSampling(kind: number): void;
  encode(): void;
  getEncodedBuffer(): Uint8Array;
};
type Decoder = {
  getEncodedBuffer(length: number): Uint8Array;
  decode(): void;
  getFrameInfo(): Size & { componentCount: number };
  getDecodedBuffer(): Uint8Array;
};
type Codec = { JPEGEncoder: new () => Encoder; JPEGDecoder: new () => Decoder };

const { JPEGEncoder, JPEGDecoder } = await loadCodec();
/** Both keep their memory for the next picture. */
const encoder = new JPEGEncoder();
const decoder = new JPEGDecoder();
const fullColour = 0;

function loadCodec(): Promise<Codec> {
  const name = "@cornerstonejs/codec-libjpeg-turbo-8bit";
  const require = createRequire(import.meta.url);
  const create = require(`${name}/wasmjs`) as (options: { wasmBinary: Uint8Array }) => Promise<Codec>;
  return create({ wasmBinary: readFileSync(require.resolve(`${name}/wasm`)) });
}

export function encodeJpeg({ width, height, data }: Picture, quality: number): Uint8Array {
  encoder.getDecodedBuffer({ width, height, bitsPerSample: 8, componentCount: 3, isSigned: false }).set(data);
  encoder.setQuality(quality);
  encoder.setProgressive(false);
  encoder.setSubSampling(fullColour);
  encoder.encode();
  return new Uint8Array(encoder.getEncodedBuffer());
}

export function decodeJpeg(bytes: Uint8Array): Picture {
  decoder.getEncodedBuffer(bytes.length).set(bytes);
  decoder.decode();
  const { width, height, componentCount } = decoder.getFrameInfo();
  if (componentCount !== 3) throw new TypeError("The picture has no colours");
  return { width, height, data: new Uint8Array(decoder.getDecodedBuffer()) };
}
