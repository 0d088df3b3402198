import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "./fuzz.ts";
import type { FuzzTarget } from "./fuzz-target.ts";

/** The short run of a target that belongs to the suite. */
export function testTarget(target: FuzzTarget, inputs: number): void {
  test("hostile input is refused by every reader with the package's own error, if it is refused", async () => {
    const { tallies, failures } = await fuzz(target, {
      inputsOf: () => inputs,
      seed: 20_261_115,
      isTimed: false,
    });
    assert.deepEqual(failures, []);
    const accepted = tallies.reduce((sum, tally) => sum + tally.accepted, 0);
    assert.ok(accepted > 0 && accepted < inputs * tallies.length, `${accepted} were accepted`);
  });

  test("every reader accepts the seeds that it is fuzzed from", async () => {
    for (const reader of target.readers) {
      const seeds = reader.seeds();
      assert.ok(seeds.length > 0, reader.name);
      for (const seed of seeds) await reader.read(seed);
    }
  });
}
