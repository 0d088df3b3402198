import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { encode } from "jpeg-js";
import { drawPng, tinyWebps } from "../../../test/support/pictures.ts";
import { readLogo } from "./logo-picture.ts";

const png = drawPng(3, 2);
const jpeg = encode({ width: 16, height: 8, data: Buffer.alloc(16 * 8 * 4, 90) }, 50).data;

/** The same bytes with other values at an offset. */
function withBytes(bytes: Buffer, offset: number, ...values: number[]): Buffer {
  const changed = Buffer.from(bytes);
  changed.set(values, offset);
  return changed;
}

/** A WebP of this size that begins with the extended header (animation or transparency). */
function extendedWebp(width: number, height: number): Buffer {
  const bytes = Buffer.concat([Buffer.from("RIFF____WEBPVP8X\x0a\0\0\0\0\0\0\0", "latin1"), Buffer.alloc(6)]);
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return Buffer.concat([bytes, tinyWebps.lossy.subarray(12)]);
}

function losslessWebp(width: number, height: number): Buffer {
  const bytes = Buffer.from(tinyWebps.lossless);
  bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  return bytes;
}

function lossyWebp(width: number, height: number): Buffer {
  const bytes = Buffer.from(tinyWebps.lossy);
  // The two highest bits request scaling and are not part of the size.
  bytes.writeUInt16LE(width | 0x4000, 26);
  bytes.writeUInt16LE(height | 0x8000, 28);
  return bytes;
}

function sizedPng(width: number, height: number): Buffer {
  const bytes = Buffer.from(png);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function sizedJpeg(width: number, height: number): Buffer {
  const bytes = Buffer.from(jpeg);
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

const kinds = [
  ["image/png", sizedPng],
  ["image/jpeg", sizedJpeg],
  ["image/webp", extendedWebp],
  ["image/webp", losslessWebp],
  ["image/webp", lossyWebp],
] as const;

test("a picture is known by its bytes and refused by its size, whatever its kind", () => {
  for (const [contentType, make] of kinds) {
    for (const [width, height, taken] of [
      [1, 1, true],
      [2000, 2000, true],
      [2001, 1, false],
      [1, 2001, false],
      [4000, 4000, false],
    ] as const) {
      const bytes = make(width, height);
      assert.deepEqual(
        readLogo(bytes),
        taken ? { contentType, bytes } : "too_many_pixels",
        `${make.name} ${width} × ${height}`,
      );
    }
  }
  for (const make of [sizedPng, sizedJpeg, lossyWebp])
    for (const bytes of [make(0, 5), make(5, 0)]) assert.equal(readLogo(bytes), "not_a_picture", make.name);
  assert.equal(readLogo(sizedPng(2 ** 32 - 1, 2 ** 31)), "too_many_pixels");
});

test("everything else is no picture", () => {
  const others = [
    "",
    "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "<!doctype html><title>logo</title>",
    "GIF89a\x01\0\x01\0\0\0\0;",
    `BM${"\0".repeat(60)}`,
    `\0\0\0\x0cjP  \r\n\x87\n${"\0".repeat(60)}`,
  ].map((text): Buffer => Buffer.from(text, "latin1"));
  others.push(
    withBytes(png, 0, 0x88),
    withBytes(png, 12, 0x50),
    png.subarray(0, 32),
    jpeg.subarray(0, 20),
    withBytes(tinyWebps.lossy, 20, 0x31),
    withBytes(tinyWebps.lossy, 23, 0),
    withBytes(tinyWebps.lossless, 20, 0),
    withBytes(tinyWebps.lossless, 0, 0x41),
    withBytes(tinyWebps.lossless, 8, 0x41),
    withBytes(tinyWebps.lossless, 12, 0x41),
    extendedWebp(10, 10).subarray(0, 29),
  );
  for (const bytes of others)
    assert.equal(readLogo(bytes), "not_a_picture", bytes.toString("latin1").slice(0, 30));
});

/** The PNG with another chunk before its image data. */
function pngWith(type: string, data: Buffer): Buffer {
  const part = Buffer.concat([Buffer.alloc(4), Buffer.from(type, "latin1"), data, Buffer.alloc(4)]);
  part.writeUInt32BE(data.length, 0);
  return Buffer.concat([png.subarray(0, 33), part, png.subarray(33)]);
}

function webpPart(type: string, length: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, "latin1");
  head.writeUInt32LE(length, 4);
  return Buffer.concat([head, Buffer.alloc(length + (length % 2))]);
}

test("a picture that moves is refused, whatever its kind", () => {
  assert.equal(readLogo(pngWith("acTL", Buffer.alloc(8))), "animated");
  assert.equal(readLogo(withBytes(extendedWebp(9, 9), 20, 0x02)), "animated");
  assert.equal(readLogo(Buffer.concat([extendedWebp(9, 9), webpPart("ANMF", 24)])), "animated");
});

test("a profile or a text that grows in the reader is refused; one of ordinary size is not", () => {
  const named = Buffer.from("name\0\0", "latin1");
  const packed = (size: number) => deflateSync(Buffer.alloc(size));
  for (const type of ["iCCP", "zTXt"]) {
    assert.equal(readLogo(pngWith(type, Buffer.concat([named, packed(50_000_000)]))), "too_much_inside");
    assert.equal(typeof readLogo(pngWith(type, Buffer.concat([named, packed(5_000)]))), "object", type);
  }
  const text = (size: number) =>
    Buffer.concat([Buffer.from("name\0\x01\0en\0name\0", "latin1"), packed(size)]);
  assert.equal(readLogo(pngWith("iTXt", text(50_000_000))), "too_much_inside");
  assert.equal(typeof readLogo(pngWith("iTXt", text(500))), "object");
});

test("a picture without an image in it, or cut off, is refused", () => {
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  for (const bytes of [
    png.subarray(0, 33),
    png.subarray(0, png.length - 12),
    Buffer.concat([png.subarray(0, 33), png.subarray(png.length - 12)]),
    jpeg.subarray(0, scan),
    jpeg.subarray(0, scan + 14),
    extendedWebp(9, 9).subarray(0, 30),
    tinyWebps.lossy.subarray(0, 34),
  ])
    assert.equal(readLogo(bytes), "no_image_data", bytes.toString("hex").slice(-40));
});

test("no bytes make the reader fail", () => {
  const starts = [png, jpeg, tinyWebps.lossless, tinyWebps.lossy, extendedWebp(9, 9)];
  fc.assert(
    fc.property(
      fc.constantFrom(Buffer.alloc(0), ...starts),
      fc.nat(40),
      fc.uint8Array({ maxLength: 80 }),
      (start, kept, rest) => {
        const found = readLogo(Buffer.concat([start.subarray(0, kept), rest]));
        if (typeof found === "string")
          assert.match(found, /^(not_a_picture|too_many_pixels|no_image_data|animated|too_much_inside)$/);
        else assert.ok(found.bytes.length > 0);
      },
    ),
    { numRuns: 500 },
  );
});
