import assert from "node:assert/strict";
import { test } from "node:test";
import { scoreAttack } from "./attack-detector.ts";

test("a detector that breaks, hangs, does not load or answers with no share gives no answer, and its try goes on", async () => {
  const answers = async (score: () => Promise<number> | number) =>
    scoreAttack(Promise.resolve({ score }), [], 20);
  assert.equal(await answers(() => 0.7), 0.7);
  assert.equal(await answers(async () => 0), 0);
  for (const bad of [1.1, -0.1, Number.NaN]) assert.equal(await answers(() => bad), "unavailable");
  assert.equal(await answers(() => Promise.reject(new Error("broken"))), "unavailable");
  assert.equal(await answers(() => new Promise(() => {})), "unavailable");
  assert.equal(await scoreAttack(Promise.reject(new Error("not there")), []), "unavailable");
});
