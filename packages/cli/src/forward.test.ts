import assert from "node:assert/strict";
import test from "node:test";
import { answerErrors as answerErrorsOfService } from "@assay/contract/webhook-listeners";
import { answerErrors, isSuccess } from "./forward.ts";

test("a receiver has taken a delivery when it answers with 200 to 299, and with nothing else", () => {
  for (const status of [200, 204, 299]) assert.equal(isSuccess({ status_code: status }), true, `${status}`);
  for (const status of [0, 199, 300, 302, 404, 500])
    assert.equal(isSuccess({ status_code: status }), false, `${status}`);
  assert.equal(isSuccess({ error: "timeout" }), false);
});

test("the reasons for no answer are those that the service takes", () => {
  assert.deepEqual(answerErrors, answerErrorsOfService);
});
