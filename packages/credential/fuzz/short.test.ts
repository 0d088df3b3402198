import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "../../../scripts/fuzz/fuzz.ts";
import { walletTarget } from "./readers.ts";

test("hostile input is refused by every reader with the package's own error", async () => {
  const { failures } = await fuzz(walletTarget, { inputsOf: () => 100, seed: 20_261_118, isTimed: false });
  assert.deepEqual(failures, []);
});

test("every reader accepts the seeds that it is fuzzed from", async () => {
  for (const reader of walletTarget.readers) {
    assert.ok(reader.seeds().length > 0, reader.name);
    for (const seed of reader.seeds()) await reader.read(seed);
  }
});
