import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { jpegProblem, pngProblem, webpProblem } from "./logo-chunks.ts";

const pngStart = Buffer.alloc(8);

function pngPart(type: string, data = Buffer.alloc(0)): Buffer {
  const part = Buffer.concat([Buffer.alloc(4), Buffer.from(type, "latin1"), data, Buffer.alloc(4)]);
  part.writeUInt32BE(data.length, 0);
  return part;
}

const png = (...parts: Buffer[]) => pngProblem(Buffer.concat([pngStart, ...parts]));
const end = pngPart("IEND");
const data = (length: number) => pngPart("IDAT", Buffer.alloc(length));

test("a PNG has eight bytes of image data before its end, in one part or several", () => {
  assert.equal(png(data(8), end), null);
  assert.equal(png(data(3), data(5), end), null);
  assert.equal(png(data(7), end), "no_image_data");
  assert.equal(png(data(8)), "no_image_data");
  assert.equal(png(pngPart("tEXt", Buffer.alloc(20)), end), "no_image_data");
  assert.equal(png(data(8), end.subarray(0, 11)), "no_image_data", "its last part is cut off");
});

test("a part that is longer than what is left of the picture is cut off", () => {
  const part = data(20);
  assert.equal(png(part.subarray(0, part.length - 5)), "no_image_data");
  assert.equal(png(data(8), end, Buffer.alloc(30)), null, "what follows the end does not count");
});

test("a PNG of two thousand parts is walked, and no further", () => {
  const filler = (count: number) => Array.from({ length: count }, () => pngPart("tEXt"));
  assert.equal(png(data(8), ...filler(1998), end), null);
  assert.equal(png(data(8), ...filler(1999), end), "no_image_data");
});

test("each part of an animation is one", () => {
  for (const type of ["acTL", "fcTL", "fdAT"])
    assert.equal(png(pngPart(type), data(8), end), "animated", type);
});

test("what is packed inside has to open within a mebibyte", () => {
  const named = Buffer.from("name\0\0", "latin1");
  const packed = (size: number) => Buffer.concat([named, deflateSync(Buffer.alloc(size))]);
  for (const type of ["iCCP", "zTXt"]) {
    assert.equal(png(pngPart(type, packed(1024 * 1024)), data(8), end), null, type);
    assert.equal(png(pngPart(type, packed(1024 * 1024 + 1)), data(8), end), "too_much_inside", type);
    assert.equal(
      png(pngPart(type, Buffer.concat([named, Buffer.from("x")])), data(8), end),
      "too_much_inside",
    );
  }
  const text = (flag: number, rest: Buffer) =>
    pngPart(
      "iTXt",
      Buffer.concat([Buffer.from(`name\0${String.fromCharCode(flag)}\0en\0nom\0`, "latin1"), rest]),
    );
  assert.equal(png(text(1, deflateSync("a text")), data(8), end), null);
  assert.equal(png(text(1, Buffer.from("a text")), data(8), end), "too_much_inside");
  assert.equal(png(text(0, Buffer.from("a text")), data(8), end), null, "it says that it is not packed");
  assert.equal(png(pngPart("tEXt", Buffer.from("name\0\x01x")), data(8), end), null);
});

function webpPart(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

const webp = (...parts: Buffer[]) => webpProblem(Buffer.concat([Buffer.alloc(12), ...parts]));

test("a WebP has a frame of eight bytes, after parts of even or odd length", () => {
  for (const type of ["VP8 ", "VP8L"]) {
    assert.equal(webp(webpPart(type, Buffer.alloc(8))), null);
    assert.equal(webp(webpPart("EXIF", Buffer.alloc(3)), webpPart(type, Buffer.alloc(9))), null);
    assert.equal(webp(webpPart(type, Buffer.alloc(7))), "no_image_data");
  }
  assert.equal(webp(webpPart("EXIF", Buffer.alloc(8))), "no_image_data");
  const filler = (count: number) => Array.from({ length: count }, () => webpPart("EXIF", Buffer.alloc(0)));
  assert.equal(webp(...filler(1999), webpPart("VP8 ", Buffer.alloc(8))), null);
  assert.equal(webp(...filler(2000), webpPart("VP8 ", Buffer.alloc(8))), "no_image_data");
  assert.equal(webp(webpPart("VP8 ", Buffer.alloc(8)), webpPart("ANIM", Buffer.alloc(0))), "animated");
  const cut = webpPart("VP8 ", Buffer.alloc(10));
  assert.equal(webp(cut.subarray(0, cut.length - 1)), "no_image_data");
  assert.equal(webp(webpPart("VP8 ", Buffer.alloc(8)), Buffer.alloc(7)), null, "bytes that are no part");
});

test("a WebP moves by its flag or by a part of an animation", () => {
  const frame = webpPart("VP8 ", Buffer.alloc(8));
  const header = (flags: number) => webpPart("VP8X", Buffer.from([flags, 0, 0, 0]));
  assert.equal(webp(header(0x10), frame), null);
  assert.equal(webp(header(0x12), frame), "animated");
  for (const type of ["ANIM", "ANMF"]) assert.equal(webp(frame, webpPart(type, Buffer.alloc(2))), "animated");
});

const jpeg = (...bytes: number[]) => jpegProblem(Buffer.from([0xff, 0xd8, ...bytes]));
const segment = [0xff, 0xe0, 0, 4, 1, 2];
const scan = [0xff, 0xda, 0, 3, 1];

test("a JPEG has something in its scan, after segments and bytes that fill up", () => {
  assert.equal(jpeg(...scan, 0x12, 0x34), null);
  assert.equal(jpeg(...segment, 0xff, ...scan, 0x12, 0x34), null);
  assert.equal(jpeg(...scan, 0x12), "no_image_data", "one byte is no scan");
  assert.equal(jpeg(...scan, 0xff, 0xd9), "no_image_data", "its end follows at once");
  assert.equal(jpeg(...segment), "no_image_data");
  assert.equal(jpeg(...segment, 0, ...scan, 0x12, 0x34), "no_image_data", "no marker where one has to be");
  assert.equal(jpeg(), "no_image_data");
});

test("a JPEG of two thousand segments is walked, and no further", () => {
  const filler = (count: number) => Array.from({ length: count }, () => segment).flat();
  assert.equal(jpeg(...filler(1999), ...scan, 0x12, 0x34), null);
  assert.equal(jpeg(...filler(2000), ...scan, 0x12, 0x34), "no_image_data");
});
