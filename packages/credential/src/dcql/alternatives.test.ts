import assert from "node:assert/strict";
import { test } from "node:test";
import type { AskedCredential } from "../asked.ts";
import { dcqlQuery } from "./query.ts";

const credential = (id: string): AskedCredential => ({
  id,
  purpose: "pid",
  format: "mso_mdoc",
  claimSets: [[["eu.europa.ec.eudi.pid.1", "family_name"]]],
});

test("a wallet gives one of the credentials, also where there are only two", () => {
  const setsOf = (...ids: string[]) => dcqlQuery(ids.map(credential), []).credential_sets;
  assert.equal(setsOf("a"), undefined);
  assert.deepEqual(setsOf("a", "b"), [{ options: [["a"], ["b"]], required: true }]);
  assert.deepEqual(setsOf("a", "b", "c"), [{ options: [["a"], ["b"], ["c"]], required: true }]);
});
