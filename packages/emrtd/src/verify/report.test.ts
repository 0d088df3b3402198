import assert from "node:assert/strict";
import { test } from "node:test";
import { failureCodeOf } from "./failure-code.ts";
import {
  type Check,
  type CheckName,
  checkNames,
  checkOf,
  makeReport,
  type Outcome,
  revocationOf,
  withChipProof,
} from "./report.ts";

/** A report in which everything passed, except the given outcomes. */
function report(outcomes: Partial<Record<CheckName, Outcome>>, evidence: Check["evidence"] = {}) {
  const checks = checkNames.map((name): Check => {
    const outcome = outcomes[name] ?? (/_authentication(_mapping)?$/.test(name) ? "not_offered" : "passed");
    return { name, outcome, reason: null, evidence: name === "revocation" ? evidence : {} };
  });
  return makeReport(checks, []);
}

test("the level follows from the checks, and with it the proof to ask for", () => {
  const judged = (outcomes: Partial<Record<CheckName, Outcome>>) => {
    const { level, nextProof } = report(outcomes);
    return [level, nextProof];
  };
  assert.deepEqual(judged({}), ["chip_clonable", null]);
  assert.deepEqual(judged({ chip_authentication: "pending", active_authentication: "pending" }), [
    "data_authentic",
    "chip_authentication",
  ]);
  assert.deepEqual(judged({ active_authentication: "pending" }), ["data_authentic", "active_authentication"]);
  assert.deepEqual(judged({ chip_authentication: "passed", active_authentication: "pending" }), [
    "chip_genuine",
    null,
  ]);
  assert.deepEqual(judged({ active_authentication: "passed" }), ["chip_genuine", null]);
  assert.deepEqual(judged({ chip_authentication: "failed" }), [null, null]);
  assert.deepEqual(judged({ revocation: "failed", chip_authentication: "pending" }), [null, null]);
  assert.deepEqual(judged({ document_expiry: "not_run" }), [null, null], "the checks were not all made");
  assert.deepEqual(judged({ chip_authentication: "not_run" }), ["chip_clonable", null]);
});

test("what is known about revocation is what the check wrote down, if it passed", () => {
  assert.equal(revocationOf(report({}, { revocation_list: "fresh" })), "checked");
  assert.equal(revocationOf(report({}, { revocation_list: "stale" })), "stale");
  assert.equal(revocationOf(report({}, { revocation_list: "missing" })), "no_list");
  assert.equal(revocationOf(report({})), "no_list");
  assert.equal(revocationOf(report({ revocation: "failed" }, { revocation_list: "fresh" })), "no_list");
  assert.equal(revocationOf(report({ revocation: "not_run" }, { revocation_list: "stale" })), "no_list");
});

test("a proof is added with what it showed, and one that failed without a word has a reason all the same", () => {
  const open = report({ chip_authentication: "pending", active_authentication: "pending" });
  const failed = withChipProof(open, { proof: "chip_authentication", passed: false });
  assert.equal(checkOf(failed, "chip_authentication").reason, "proof_failed");
  assert.equal(checkOf(failed, "active_authentication").outcome, "not_run");
  assert.equal(failureCodeOf(failed), "document_chip_authentication_failed");
  const passed = withChipProof(open, {
    ...{ proof: "chip_authentication", passed: true, reason: "of no account", evidence: { key: "EC" } },
  });
  assert.deepEqual(checkOf(passed, "chip_authentication"), {
    name: "chip_authentication",
    outcome: "passed",
    reason: null,
    evidence: { key: "EC" },
  });
  assert.equal(failureCodeOf(passed), null);
});

test("a report without one of its checks is a mistake of the program", () => {
  const { checks } = report({});
  const lacking = makeReport(
    checks.filter(({ name }) => name !== "revocation"),
    [],
  );
  assert.throws(() => checkOf(lacking, "revocation"), TypeError);
});
