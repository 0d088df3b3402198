import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import fc from "fast-check";
import { encode } from "jpeg-js";
import { decodePicture, PictureError } from "./decode-picture.ts";

const limits = { kinds: ["jpeg", "jp2", "j2k"], maxPixels: 1_000_000 } as const;

test("pictures of both kinds come out alike", async () => {
  const jpeg = await decodePicture(readPortrait("elder.jpg"), limits);
  const jp2 = await decodePicture(readPortrait("elder.jp2"), limits);
  assert.deepEqual([jpeg.width, jpeg.height], [jp2.width, jp2.height]);
  let difference = 0;
  for (const [index, value] of jpeg.rgb.entries()) difference += Math.abs(value - (jp2.rgb[index] ?? 0));
  assert.ok(difference / jpeg.rgb.length < 6);
});

type JpegEncoder = {
  getDecodedBuffer(info: object): Uint8Array;
  setProgressive(progressive: boolean): void;
  encode(): void;
  getEncodedBuffer(): Uint8Array;
};

/** Made by libjpeg-turbo itself, which knows every kind that cameras and issuers make. */
async function encodeWith(how: { componentCount: 1 | 3; progressive: boolean }): Promise<Uint8Array> {
  const require = createRequire(import.meta.url);
  const codec = "@cornerstonejs/codec-libjpeg-turbo-8bit";
  const create = require(`${codec}/wasmjs`) as (
    options: object,
  ) => Promise<{ JPEGEncoder: new () => JpegEncoder }>;
  const encoder = new (
    await create({ wasmBinary: readFileSync(require.resolve(`${codec}/wasm`)) })
  ).JPEGEncoder();
  const { componentCount, progressive } = how;
  const size = { width: 48, height: 32, bitsPerSample: 8, isSigned: false };
  // Dark above, light below.
  const samples = encoder.getDecodedBuffer({ ...size, componentCount });
  samples.fill(40, 0, samples.length / 2).fill(200, samples.length / 2);
  encoder.setProgressive(progressive);
  encoder.encode();
  return new Uint8Array(encoder.getEncodedBuffer());
}

for (const componentCount of [1, 3] as const)
  for (const progressive of [false, true])
    test(`pictures in JPEG are read with ${componentCount} components, progressive: ${progressive}`, async () => {
      const { width, height, rgb } = await decodePicture(
        await encodeWith({ componentCount, progressive }),
        limits,
      );
      assert.deepEqual([width, height, rgb.length], [48, 32, 48 * 32 * 3]);
      for (const [at, expected] of [
        [0, 40],
        [rgb.length - 3, 200],
      ] as const)
        for (const value of rgb.subarray(at, at + 3)) assert.ok(Math.abs(value - expected) <= 3, `${value}`);
    });

test("pictures that are built up in more passes than an encoder makes are refused", async () => {
  const jpeg = await encodeWith({ componentCount: 1, progressive: true });
  const lastScan = jpeg.lastIndexOf(0xda) - 1;
  const scan = jpeg.subarray(lastScan, -2);
  const withScans = (count: number) =>
    Buffer.concat([jpeg.subarray(0, lastScan), ...Array(count).fill(scan), jpeg.subarray(-2)]);
  assert.equal((await decodePicture(withScans(1), limits)).width, 48);
  await assert.rejects(decodePicture(withScans(101), limits), {
    message: "The picture has too many passes",
  });
});

test("pictures are refused when they are of another kind or have too many pixels", async () => {
  const jp2 = readPortrait("elder.jp2");
  await assert.rejects(decodePicture(jp2, { ...limits, kinds: ["jpeg"] }), PictureError);
  await assert.rejects(decodePicture(jp2, { ...limits, maxPixels: 119_999 }), PictureError);
  const data = new Uint8Array(400 * 400 * 4);
  const jpeg = new Uint8Array(encode({ data, width: 400, height: 400 }, 50).data);
  await assert.rejects(decodePicture(jpeg, { ...limits, maxPixels: 150_000 }), PictureError);
});

test("pictures that were damaged give a picture or their own error, nothing else", async () => {
  const small = new Uint8Array(
    encode({ data: new Uint8Array(64 * 64 * 4).fill(90), width: 64, height: 64 }, 60).data,
  );
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
  const damaged = (bytes: Uint8Array, changes: readonly (readonly [number, number])[], end: number) => {
    const copy = bytes.slice(0, bytes.length - (end % bytes.length));
    for (const [at, value] of changes) copy[at % copy.length] = value;
    return copy;
  };
  const survives = async (bytes: Uint8Array) => {
    try {
      const { rgb, width, height } = await decodePicture(bytes, limits);
      assert.equal(rgb.length, width * height * 3);
    } catch (error) {
      assert.ok(error instanceof PictureError, String(error));
    }
  };
  await fc.assert(
    fc.asyncProperty(damage, fc.constantFrom(0, 0, 1, 50), (changes, end) =>
      survives(damaged(small, changes, end)),
    ),
    { numRuns: 100 },
  );
  await fc.assert(
    fc.asyncProperty(damage, fc.constantFrom(0, 0, 1, 50, 9_000), (changes, end) =>
      survives(damaged(readPortrait("elder.jp2"), changes, end)),
    ),
    { numRuns: 10 },
  );
  // After all that the decoder still works.
  assert.equal((await decodePicture(readPortrait("elder.jp2"), limits)).width, 300);
});
