import assert from "node:assert/strict";
import { test } from "node:test";
import { EmrtdError } from "../src/emrtd-error.ts";
import { fuzz } from "./fuzz.ts";
import type { FuzzReader } from "./fuzz-reader.ts";
import { allReaders } from "./readers.ts";

test("hostile input is refused by every reader with the package's own error", async () => {
  const { tallies, failures } = await fuzz({
    readers: allReaders,
    inputs: 300 * allReaders.length,
    seed: 20_261_115,
  });
  assert.deepEqual(failures, []);
  for (const tally of tallies) assert.equal(tally.inputs, 300, tally.name);
});

test("every reader accepts the seeds that it is fuzzed from", async () => {
  for (const reader of allReaders) {
    assert.ok(reader.seeds().length > 0, reader.name);
    for (const seed of reader.seeds()) {
      // The walk over all accessors always meets one that refuses, so it alone cannot accept.
      if (reader.name !== "ber") await reader.read(seed);
    }
  }
});

test("the fuzzer notices foreign errors, quoted input and changed input", async () => {
  const bad = (name: string, read: FuzzReader["read"]): FuzzReader => ({
    name,
    read,
    seeds: () => [new Uint8Array(9)],
  });
  const readers = [
    bad("foreign", () => {
      throw new RangeError("out of range");
    }),
    bad("late", async () => {
      await Promise.resolve();
      throw new TypeError("late");
    }),
    bad("quoting", () => {
      throw new EmrtdError("MRZ_INVALID", "cannot read ERIKSSON");
    }),
    bad("changing", (bytes) => {
      if (bytes.length > 0) bytes[0] = (bytes[0] ?? 0) ^ 1;
    }),
  ];
  for (const reader of readers) {
    const { failures } = await fuzz({ readers: [reader], inputs: 10, seed: 1 });
    assert.ok(failures.length > 0, reader.name);
  }
});

test("the same seed gives the same inputs", async () => {
  const seen: string[][] = [];
  for (let run = 0; run < 2; run++) {
    const inputs: string[] = [];
    const reader: FuzzReader = {
      name: "listening",
      read: (bytes) => inputs.push(bytes.join()),
      seeds: () => [Uint8Array.of(0x30, 3, 2, 1, 5)],
    };
    await fuzz({ readers: [reader], inputs: 200, seed: 5 });
    seen.push(inputs);
  }
  assert.deepEqual(seen[0], seen[1]);
  assert.ok(new Set(seen[0]).size > 50, "and different ones");
});
