import assert from "node:assert/strict";
import { test } from "node:test";
import { CredentialError } from "../credential-error.ts";
import { decode } from "./decode.ts";
import { encode } from "./encode.ts";
import { CborFloat, CborSimple, CborTag, type CborValue, embedded } from "./value.ts";

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
const read = (hex: string) => decode(bytes(hex), { maxBytes: 10_000 });
const refused = (code: CredentialError["code"]) => (error: unknown) =>
  error instanceof CredentialError && error.code === code;

// RFC 8949, appendix A.
const examples: readonly (readonly [string, CborValue])[] = [
  ["00", 0],
  ["17", 23],
  ["1818", 24],
  ["1903e8", 1000],
  ["1a000f4240", 1_000_000],
  ["1b000000e8d4a51000", 1_000_000_000_000],
  ["1bffffffffffffffff", 18446744073709551615n],
  ["3bffffffffffffffff", -18446744073709551616n],
  ["20", -1],
  ["3903e7", -1000],
  ["f4", false],
  ["f5", true],
  ["f6", null],
  ["f7", new CborSimple(23)],
  ["f8ff", new CborSimple(255)],
  ["fb3ff199999999999a", new CborFloat(1.1)],
  ["c11a514b67b0", new CborTag(1, 1363896240)],
  ["d818456449455446", embedded(bytes("6449455446"))],
  ["40", new Uint8Array()],
  ["4401020304", bytes("01020304")],
  ["62c3bc", "ü"],
  ["64f0908591", "\u{10151}"],
  ["80", []],
  ["8301820203820405", [1, [2, 3], [4, 5]]],
  ["a0", new Map()],
  [
    "a26161016162820203",
    new Map<string, CborValue>([
      ["a", 1],
      ["b", [2, 3]],
    ]),
  ],
  [
    "a201020304",
    new Map([
      [1, 2],
      [3, 4],
    ]),
  ],
];

test("the examples of RFC 8949 are read and written", () => {
  for (const [hex, value] of examples) {
    assert.deepEqual(read(hex), value, hex);
    assert.equal(Buffer.from(encode(value)).toString("hex"), hex);
  }
  assert.deepEqual(read("f93c00"), new CborFloat(1), "a float is no integer");
  assert.deepEqual(read("f90001"), new CborFloat(2 ** -24));
  assert.deepEqual(read("f9fc00"), new CborFloat(Number.NEGATIVE_INFINITY));
  assert.deepEqual(read("fa47c35000"), new CborFloat(100000));
  assert.deepEqual(read("3b001fffffffffffff"), -9007199254740992n, "an integer that no number holds exactly");
});

test("lengths that are not the shortest are read, and name the same key", () => {
  assert.equal(read("1801"), 1);
  assert.deepEqual(read("590001ff"), bytes("ff"));
  assert.throws(() => read("a2010218011903e8"), refused("malformed"));
});

test("a repeated key is malformed, however deep it stands", () => {
  assert.throws(() => read("a2616101616102"), refused("malformed"));
  assert.throws(() => read("81a26161016161f6"), refused("malformed"));
  assert.throws(() => read("a2200120f6"), refused("malformed"));
});

test("indefinite lengths, reserved values, bytes that are missing or too many are malformed", () => {
  for (const hex of [
    "9f01ff",
    "bfff",
    "5f4101ff",
    "7f6161ff",
    "ff",
    "1c",
    "fc",
    "f818",
    "",
    "18",
    "4301",
    "8201",
    "a101",
    "0000",
    "61ff",
    "62c328",
  ]) {
    assert.throws(() => read(hex), refused("malformed"), hex);
  }
  assert.throws(() => read("a18001"), refused("malformed"), "a key that is an array");
  assert.throws(() => read("a1f93c0001"), refused("malformed"), "a key that is a float");
});

test("a length that promises more than there is takes no memory", () => {
  for (const hex of [
    "9bffffffffffffffff",
    "9affffffff",
    "bb7fffffffffffffff",
    "5affffffff",
    "7bffffffffffffffff",
  ]) {
    assert.throws(() => read(hex), refused("malformed"), hex);
  }
});

test("depth, size and number of data items are bounded", () => {
  const nested = (depth: number, head: string) => read(`${head.repeat(depth)}00`);
  assert.doesNotThrow(() => nested(16, "81"));
  assert.throws(() => nested(17, "81"), refused("malformed"));
  assert.throws(() => nested(17, "a100"), refused("malformed"));
  assert.throws(() => nested(17, "c1"), refused("malformed"));
  assert.throws(() => decode(new Uint8Array(11), { maxBytes: 10 }), refused("too_large"));
  const many = (count: number) =>
    decode(Uint8Array.of(0x99, count >> 8, count & 0xff, ...new Uint8Array(count)), {
      maxBytes: 1 << 20,
      maxItems: 101,
    });
  assert.doesNotThrow(() => many(100));
  assert.throws(() => many(101), refused("too_large"));
});
