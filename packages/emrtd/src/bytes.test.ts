import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bigIntToBytes, bytesToBigInt, equal, toHex, uintBytes } from "./bytes.ts";

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
      },
    ),
  );
});

test("bytes are equal when all of them are, wherever they stand in memory", () => {
  for (const length of [0, 1, 20, 63, 64, 65, 71, 72, 73, 300]) {
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
