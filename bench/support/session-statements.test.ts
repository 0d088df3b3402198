import assert from "node:assert/strict";
import { test } from "node:test";
import { findOwner, findSession, insert, insertValues } from "./session-statements.ts";

test("the bare server of the benchmarks gives the service's statements as many values as they take", () => {
  assert.equal(findOwner.values.length, 1);
  assert.deepEqual(findSession.values, ["vs", "organization", true]);
  const values = insertValues({ organization_id: "organization", id: "key" }, "vs", Buffer.alloc(1), {});
  assert.equal(values.length, insert.values.length);
});
