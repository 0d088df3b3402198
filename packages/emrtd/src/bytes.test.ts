import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bigIntToBytes, bytesToBigInt, toHex, uintBytes } from "./bytes.ts";

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
