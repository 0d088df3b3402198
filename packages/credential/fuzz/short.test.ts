import assert from "node:assert/strict";
import { test } from "node:test";
import { CredentialError } from "../src/credential-error.ts";
import { damageText } from "./damage-text.ts";
import { fuzz } from "./fuzz.ts";
import type { FuzzReader } from "./fuzz-reader.ts";
import { allReaders } from "./readers.ts";

test("hostile input is refused by every reader with the package's own error", async () => {
  const { tallies, failures } = await fuzz({
    readers: allReaders,
    inputs: 100 * allReaders.length,
    seed: 20_261_118,
  });
  assert.deepEqual(failures, []);
  for (const tally of tallies) assert.equal(tally.inputs, 100, tally.name);
});

test("every reader accepts the seeds that it is fuzzed from", async () => {
  for (const reader of allReaders) {
    assert.ok(reader.seeds().length > 0, reader.name);
    for (const seed of reader.seeds()) await reader.read(seed);
  }
});

test("the fuzzer notices foreign errors, quoted input and changed input", async () => {
  const bad = (name: string, read: FuzzReader["read"]): FuzzReader => ({
    name,
    read,
    seeds: () => [new Uint8Array(9)],
    damage: damageText,
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
      throw new CredentialError("malformed", "cannot read Čapek");
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
