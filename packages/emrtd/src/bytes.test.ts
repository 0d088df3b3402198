import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bigIntBetween,
  bigIntToBytes,
  bytesToBigInt,
  equal,
  hasAt,
  hexBetween,
  startsWith,
  toHex,
  uintBytes,
} from "./bytes.ts";

test("bytes of any length are the number that their digits say, wherever they stand in memory", () => {
  const lengths = [0, 1, 7, 8, 9, 24, 28, 32, 48, 66, 255, 256, 257, 1024];
  fc.assert(
    fc.property(
      fc.constantFrom(...lengths),
      fc.nat(9),
      fc.infiniteStream(fc.nat(255)),
      (length, start, noise) => {
        const memory = Uint8Array.from(noise.take(start + length));
        const bytes = memory.subarray(start);
        const value = bytesToBigInt(bytes);
        assert.equal(value, BigInt(`0x0${toHex(bytes)}`));
        assert.deepEqual(uintBytes(value, length), bytes);
        assert.equal(bytesToBigInt(bigIntToBytes(value)), value);
        assert.equal(bigIntBetween(memory, start, start + length), value);
        assert.equal(hexBetween(memory, start, start + length), toHex(bytes));
      },
    ),
  );
});

test("bytes are equal when all of them are, wherever they stand in memory", () => {
  for (const length of [0, 1, 20, 127, 128, 129, 135, 136, 137, 300]) {
    const one = new Uint8Array(length + 3).fill(0xa5).subarray(3);
    const other = Buffer.alloc(length + 5, 0xa5).subarray(1, length + 1);
    assert.ok(equal(one, other), `${length} bytes`);
    assert.ok(!equal(one, new Uint8Array(length + 1).fill(0xa5)), `${length} bytes and one more`);
    for (let offset = 0; offset < length; offset++) {
      other[offset] = 0x25;
      assert.ok(!equal(one, other), `${length} bytes that differ at ${offset}`);
      other[offset] = 0xa5;
    }
  }
});

test("a few bytes stand at a place when all of them do, up to the end and not beyond", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5);
  assert.ok(hasAt(bytes, 3, Uint8Array.of(4, 5)));
  assert.ok(!hasAt(bytes, 3, Uint8Array.of(4, 6)));
  assert.ok(!hasAt(bytes, 3, Uint8Array.of(3, 5)));
  assert.ok(!hasAt(bytes, 4, Uint8Array.of(5, 0)));
  assert.ok(hasAt(bytes, 5, new Uint8Array(0)));
  assert.ok(startsWith(bytes, Uint8Array.of(1, 2)));
  assert.ok(!startsWith(bytes, Uint8Array.of(2)));
  assert.ok(!startsWith(bytes, Uint8Array.of(1, 2, 3, 4, 5, 6)));
});
