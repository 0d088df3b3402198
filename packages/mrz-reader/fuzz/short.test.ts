import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "../../../scripts/fuzz/fuzz.ts";
import { mrzTarget } from "./readers.ts";

test("broken and made up files of the reader are refused with its own error, with bounded memory", async () => {
  const { tallies, failures } = await fuzz(mrzTarget, {
    inputsOf: () => 60,
    seed: 20_261_116,
    isTimed: false,
  });
  assert.deepEqual(failures, []);
  for (const { accepted, inputs } of tallies)
    assert.ok(accepted > 0 && accepted < inputs, `${accepted} of ${inputs} were accepted`);
});
