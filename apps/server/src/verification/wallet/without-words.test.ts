import assert from "node:assert/strict";
import { test } from "node:test";
import { describeError } from "../../platform/lib/log.ts";
import { withoutWords } from "./without-words.ts";

test("an unexpected error in an answer of a wallet is logged by its name and place, and by nothing that the answer said", async () => {
  const parse = async () => {
    throw new SyntaxError("CANARY of a person\n    at CANARY");
  };
  await assert.rejects(withoutWords(parse), (error) => {
    const logged = JSON.stringify(describeError(error));
    assert.match(logged, /SyntaxError/);
    assert.match(logged, /without-words\.test/);
    assert.ok(!logged.includes("CANARY"), logged);
    return true;
  });
  assert.equal(await withoutWords(async () => 1), 1);
});
