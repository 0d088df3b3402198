import assert from "node:assert/strict";
import test from "node:test";
import { defaultPageLimit, maxPageLimit } from "@assay/contract/page";
import { ApiError } from "../kernel/api-error.ts";
import { limitInEffect, writeFailure } from "./error-handler.ts";

test("the limit of a page is the one that was asked for where it is one, and the usual one elsewhere", () => {
  for (const limit of [1, 7, maxPageLimit]) {
    assert.equal(limitInEffect({ limit }), limit);
    assert.equal(limitInEffect({ limit: String(limit) }), limit);
  }
  for (const query of [
    null,
    undefined,
    {},
    { limit: 0 },
    { limit: maxPageLimit + 1 },
    { limit: 1.5 },
    { limit: "x" },
  ])
    assert.equal(limitInEffect(query), defaultPageLimit, JSON.stringify(query));
});

test("a failure has the envelope of its code, and that of a list has the page that it would have been", () => {
  const failure = new ApiError("NOT_FOUND", { message: "Not here.", hint: "Look there." });
  const error = {
    code: "NOT_FOUND",
    message: "Not here.",
    hint: "Look there.",
    docs: "https://a.example/docs/errors#NOT_FOUND",
  };
  assert.deepEqual(JSON.parse(writeFailure(failure, "https://a.example")), { data: null, error });
  assert.deepEqual(JSON.parse(writeFailure(failure, "https://a.example", { limit: 5 })), {
    data: null,
    error,
    pagination: { limit: 5, has_more: false, next_cursor: null },
  });
});
