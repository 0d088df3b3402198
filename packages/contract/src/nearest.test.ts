import assert from "node:assert/strict";
import test from "node:test";
import { nearest } from "./nearest.ts";

const known = ["family_name", "given_names", "date_of_birth", "nationality_code", "age_over_18"];

test("a name that is nearly a known one leads to it, whatever its spelling", () => {
  const meant = ["familyname", "FamilyName", "family-nmae", "dateOfBirth", "nationality_cod", "age_over18"];
  assert.deepEqual(
    meant.map((name) => nearest(name, known)),
    ["family_name", "family_name", "family_name", "date_of_birth", "nationality_code", "age_over_18"],
  );
});

test("a name that is far from all leads nowhere, and a very long one is not compared", () => {
  for (const name of ["", "shoe_size", "x", "f".repeat(10_000)])
    assert.equal(nearest(name, known), null, name);
});
