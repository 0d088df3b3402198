import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzFiles } from "./fuzz-files.ts";

test("broken and made up files of the reader are refused with its own error, quickly and with bounded memory", () => {
  const { failures, accepted, inputs } = fuzzFiles({ inputs: 60, seed: 20_261_116, limitMs: 10_000 });
  assert.deepEqual(failures, []);
  assert.ok(accepted > 0 && accepted < inputs, `${accepted} of ${inputs} were accepted`);
});
