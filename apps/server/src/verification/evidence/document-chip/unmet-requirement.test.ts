import assert from "node:assert/strict";
import { test } from "node:test";
import { type Check, checkNames, type Evidence, makeReport, type Outcome } from "@assay/emrtd/verify/report";
import { unmetRequirement } from "./unmet-requirement.ts";

/** A document of which every check passed, with this much known of revocation and this proof of its chip. */
function reportOf(evidence: Evidence, chip: Outcome = "passed") {
  const checks = checkNames.map((name): Check => {
    if (name === "revocation") return { name, outcome: "passed", reason: null, evidence };
    if (name === "active_authentication" || name === "chip_authentication_mapping")
      return { name, outcome: "not_offered", reason: null, evidence: {} };
    return { name, outcome: name === "chip_authentication" ? chip : "passed", reason: null, evidence: {} };
  });
  return makeReport(checks, []);
}

const fresh = { revocation_list: "fresh" };
const both = { clone_detection: "required", revocation: "required" } as const;

test("a genuine chip with a fresh list meets every requirement", () => {
  assert.equal(unmetRequirement(reportOf(fresh), both), null);
});

test("only a fresh list is enough, also where the operator accepts its lack without a warning", () => {
  for (const list of ["stale", "missing"])
    assert.equal(
      unmetRequirement(reportOf({ revocation_list: list }), { revocation: "required" }),
      "revocation",
    );
  assert.equal(unmetRequirement(reportOf({}), { revocation: "required" }), "revocation");
});

test("a chip that offers no proof does not meet clone detection; one that is still to be asked may", () => {
  const required = { clone_detection: "required" } as const;
  assert.equal(unmetRequirement(reportOf(fresh, "not_offered"), required), "clone_detection");
  assert.equal(unmetRequirement(reportOf(fresh, "pending"), required), null);
});

test("what is not required is not checked, and the first check is reported first", () => {
  const nothing = reportOf({ revocation_list: "missing" }, "not_offered");
  assert.equal(unmetRequirement(nothing, {}), null);
  assert.equal(unmetRequirement(nothing, both), "revocation");
});
