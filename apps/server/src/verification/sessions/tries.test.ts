import assert from "node:assert/strict";
import test from "node:test";
import { triesOf } from "./tries.ts";

test("the tries of a step are those that are stored with it", () => {
  const steps = { chip: { tries: 2 }, face: { tries: 1 } };
  assert.deepEqual(triesOf({ steps, nfcTriesUsed: 7, livenessTriesUsed: 8 }), {
    nfc_tries_used: 2,
    liveness_tries_used: 1,
  });
});

test("a step that is not stored has the tries of the release before, each by its own column", () => {
  const before = { nfcTriesUsed: 3, livenessTriesUsed: 1 };
  assert.deepEqual(triesOf({ steps: {}, ...before }), { nfc_tries_used: 3, liveness_tries_used: 1 });
  assert.deepEqual(triesOf({ steps: { chip: { tries: 1 } }, ...before }), {
    nfc_tries_used: 1,
    liveness_tries_used: 1,
  });
  assert.deepEqual(triesOf({ steps: { face: { tries: 2 } }, ...before }), {
    nfc_tries_used: 3,
    liveness_tries_used: 2,
  });
});
