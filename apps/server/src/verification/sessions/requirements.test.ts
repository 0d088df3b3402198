import assert from "node:assert/strict";
import { test } from "node:test";
import { demandsOf, requirementsOf } from "./requirements.ts";

const allPreferred = { clone_detection: "preferred", revocation: "preferred", binding: "preferred" };

test("only what is required is stored, and read back as required; anything else is preferred", () => {
  assert.deepEqual(requirementsOf({}), {});
  assert.deepEqual(requirementsOf({ clone_detection: "required", revocation: "preferred" }), {
    clone_detection: "required",
  });
  const both = requirementsOf({ clone_detection: "required", revocation: "required" });
  assert.deepEqual(demandsOf(both), { ...allPreferred, clone_detection: "required", revocation: "required" });
  assert.deepEqual(demandsOf({}), allPreferred);
  assert.deepEqual(demandsOf({ revocation: "required" }), {
    ...allPreferred,
    revocation: "required",
  });
});
