import assert from "node:assert/strict";
import test from "node:test";
import { goesBackByItself } from "./way-back.ts";

test("only a success that the person has watched leads back by itself", () => {
  const watched = { sawItOpen: true, withdrawn: false };
  assert.equal(goesBackByItself({ status: "succeeded", ...watched }), true);
  for (const status of ["failed", "expired", "cancelled"] as const)
    assert.equal(goesBackByItself({ status, ...watched }), false, status);
  assert.equal(goesBackByItself({ status: "succeeded", sawItOpen: false, withdrawn: false }), false);
  assert.equal(goesBackByItself({ status: "succeeded", sawItOpen: true, withdrawn: true }), false);
});
