import assert from "node:assert/strict";
import { test } from "node:test";
import { describeError } from "../../platform/lib/log.ts";
import { withoutMessage } from "./without-message.ts";

test("an unexpected error in an answer of a wallet is logged by its name and place, and by nothing that the answer said", async () => {
  const parse = async () => {
    throw new SyntaxError("CANARY of a person\n    at CANARY");
  };
  await assert.rejects(withoutMessage(parse), (error) => {
    const logged = JSON.stringify(describeError(error));
    assert.match(logged, /SyntaxError/);
    assert.match(logged, /without-message\.test/);
    assert.ok(!logged.includes("CANARY"), logged);
    return true;
  });
  assert.equal(await withoutMessage(async () => 1), 1);
});
