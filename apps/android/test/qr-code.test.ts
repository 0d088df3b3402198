import assert from "node:assert/strict";
import test from "node:test";
import { drawnCode, filmed, type Picture, seeded, type View } from "./filmed-code.ts";

type QrReader = {
  readQrCode: (picture: Picture) => string | null;
  textOf: (bytes: ArrayLike<number>, version: number) => string | null;
};
// A script of the app's page, without types.
const asset = new URL("../assets/qr-code.js", import.meta.url).href;
const { readQrCode, textOf } = (await import(asset)) as QrReader;

const link = `https://id.example.com/verify/vs_${"Ab3x".repeat(16)}#handoff=${"x9Z_".repeat(11)}`;

test("codes of every size and level are read, up to the largest that a link needs", () => {
  for (let version = 1; version <= 20; version++)
    for (const level of ["L", "M", "Q", "H"]) {
      const text = `${version}${level}${"#".repeat(version * 5)}`.slice(0, 7 * version);
      const size = (17 + 4 * version + 8) * 2;
      const read = readQrCode(filmed(drawnCode(text, { version, level }), { module: 2 }, size));
      assert.equal(read, text, `${version}${level}`);
    }
  assert.equal(readQrCode(filmed(drawnCode(link, { version: 21 }), { module: 3 }, 330)), null);
});

test("digits and capitals are read as other programs write them", () => {
  for (const [text, mode] of [
    ["0123456789012345", "Numeric"],
    ["00", "Numeric"],
    ["7", "Numeric"],
    ["HTTPS://EXAMPLE.COM/$%*+-./: 1", "Alphanumeric"],
    ["A", "Alphanumeric"],
  ] as const)
    assert.equal(readQrCode(filmed(drawnCode(text, { mode }), { module: 6 }, 240)), text);
  assert.equal(readQrCode(filmed(drawnCode(""), { module: 6 }, 240)), "");
});

test("a link is read from a screen that is far, turned, slanted, blurred, noisy, dim or half in shadow", () => {
  const views: View[] = [
    ...[2, 3, 8].map((module) => ({ module })),
    ...[20, 45, 90, 135, 180, 250, 315].map((turn) => ({ module: 6, turn })),
    ...[-25, 25].flatMap((lean) => [
      { module: 5, back: lean },
      { module: 5, side: lean },
      { module: 5, back: lean / 2, side: lean / 2, turn: 20 },
    ]),
    ...[1, 2].map((blur) => ({ module: 6, blur })),
    { module: 6, noise: 40 },
    { module: 6, shadow: 0.7 },
    { module: 6, contrast: [110, 150] },
    { module: 6, contrast: [5, 40], noise: 3 },
    { module: 5, turn: 33, back: 20, side: -15, blur: 1, noise: 12, shadow: 0.4, contrast: [60, 190] },
  ];
  const code = drawnCode(link);
  for (const view of views) assert.equal(readQrCode(filmed(code, view, 420)), link, JSON.stringify(view));
});

test("a stain is corrected, and a code with too many wrong modules is not read as something else", () => {
  const code = drawnCode(link, { level: "Q" });
  const stained = (modules: number) => {
    const [from, to] = [code.modules / 2 - modules / 2, code.modules / 2 + modules / 2];
    const isStain = (place: number) => place >= from && place < to;
    return readQrCode(
      filmed(
        {
          modules: code.modules,
          isDark: (row, column) => (isStain(row) && isStain(column)) || code.isDark(row, column),
        },
        { module: 5 },
        320,
      ),
    );
  };
  assert.equal(stained(14), link);
  for (const modules of [32, 36]) assert.equal(stained(modules), null, `${modules}`);
  const random = seeded(3);
  for (let damage = 0.02; damage < 0.4; damage += 0.04) {
    const flips = Array.from({ length: code.modules ** 2 }, () => random() < damage);
    const isDark = (row: number, column: number) =>
      code.isDark(row, column) !== (flips[row * code.modules + column] ?? false);
    const read = readQrCode(filmed({ modules: code.modules, isDark }, { module: 5 }, 320));
    assert.ok(read === link || read === null, `${damage}`);
  }
});

test("pictures without a code, whatever is in them, read as nothing", () => {
  const random = seeded(11);
  const size = 160;
  const drawn = (light: (x: number, y: number) => number, width = size, height = size): Picture => ({
    width,
    height,
    light: Uint8Array.from({ length: width * height }, (_, at) => light(at % width, Math.floor(at / width))),
  });
  const mark = (x: number, y: number) => {
    const from = Math.max(Math.abs((x % 36) - 14), Math.abs((y % 36) - 14));
    return from < 6 || (from >= 10 && from < 14) ? 0 : 255;
  };
  const pictures = [
    drawn(() => 0, 0, 0),
    drawn(() => 0, 1, 1),
    drawn(() => 255, 3, 200),
    drawn(() => 0),
    drawn(() => 255),
    drawn((x) => (x % 2) * 255),
    drawn((x, y) => ((x + y) % 2) * 255),
    drawn((x) => ([0, 1, 0, 0, 0, 1, 0][x % 7] ?? 0) * 255),
    drawn(mark),
    ...Array.from({ length: 8 }, () => drawn(() => random() * 256)),
    ...Array.from({ length: 8 }, () => drawn((x, y) => (random() < 0.4 ? random() * 256 : mark(x, y)))),
  ];
  for (const [index, picture] of pictures.entries()) assert.equal(readQrCode(picture), null, `${index}`);
});

/** Numbers and how many bits each has, as the bytes of a code. */
function bits(...parts: readonly (readonly [value: number, count: number])[]): number[] {
  const text = parts.map(([value, count]) => value.toString(2).padStart(count, "0")).join("");
  return (text.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2));
}

test("content that is cut off, of another kind or no text reads as nothing", () => {
  assert.equal(textOf(bits([4, 4], [2, 8], [0x68, 8], [0x69, 8], [0, 4]), 1), "hi");
  assert.equal(textOf(bits([4, 4], [1, 8], [0x68, 8], [1, 4], [1, 10], [7, 4]), 1), "h7");
  assert.equal(textOf(bits([4, 4], [1, 16], [0x68, 8]), 10), "h");
  assert.equal(textOf([], 1), "");
  const wrong: Record<string, number[]> = {
    "more bytes than there are": bits([4, 4], [200, 8], [0x68, 8]),
    "a length that is cut off": bits([4, 4], [3, 4]),
    "three digits above 999": bits([1, 4], [3, 10], [1000, 10]),
    "two digits above 99": bits([1, 4], [2, 10], [100, 7]),
    "a digit above 9": bits([1, 4], [1, 10], [12, 4]),
    "two capitals that there are not": bits([2, 4], [2, 9], [2047, 11]),
    "a capital that there is not": bits([2, 4], [1, 9], [63, 6]),
    "no UTF-8": bits([4, 4], [2, 8], [0xc3, 8], [0x28, 8]),
    "half of a surrogate pair": bits([4, 4], [3, 8], [0xed, 8], [0xa0, 8], [0x80, 8]),
    "another character set": bits([7, 4], [26, 8], [4, 4], [1, 8], [0x68, 8]),
    "a part of several codes": bits([3, 4], [0, 16], [4, 4], [1, 8], [0x68, 8]),
    kanji: bits([8, 4], [1, 8], [0, 13]),
    "goods (FNC1)": bits([5, 4], [4, 4], [1, 8], [0x68, 8]),
  };
  for (const [what, bytes] of Object.entries(wrong)) assert.equal(textOf(bytes, 1), null, what);
});
