import assert from "node:assert/strict";
import test from "node:test";
import type { Method } from "@assay/contract/facts";
import type { StepRules } from "../evidence/kind.ts";
import { isCompletedBy, plan } from "./plan.ts";

const step = (name: string): StepRules => ({
  name,
  maxTries: 3,
  stage: { name: `${name}_done`, reachedBy: "pass" },
  forgivesChallenges: false,
});
/** Two kinds as they might be, one of which carries out two methods. */
const among = {
  document_chip: { methods: ["document_chip"], steps: [step("chip"), step("face")] },
  wallet: { methods: ["wallet_pid", "wallet_mdl"], steps: [step("presentation")] },
} as const;
const passedAt = { tries: 1, passed_at: "2026-03-01T10:00:00.000Z" };

function names(...methods: readonly Method[]): string[] {
  return plan({ methods, steps: {} }, among).map(({ kind, name }) => `${kind} ${name}`);
}

test("a session has the steps of its methods' kinds, in the partner's order and each once", () => {
  assert.deepEqual(names("document_chip"), ["document_chip chip", "document_chip face"]);
  assert.deepEqual(names("wallet_mdl", "document_chip", "wallet_pid"), [
    "wallet presentation",
    "document_chip chip",
    "document_chip face",
  ]);
  assert.deepEqual(names("document_chip", "wallet_pid"), [
    "document_chip chip",
    "document_chip face",
    "wallet presentation",
  ]);
  assert.deepEqual(names("wallet_age"), []);
});

test("a step keeps the rules of its kind, and says how far it is", () => {
  const steps = { chip: passedAt, face: { tries: 2 } };
  const [chip, face] = plan({ methods: ["document_chip"], steps }, among);
  assert.deepEqual(chip, { ...step("chip"), kind: "document_chip", tries: 1, passed: true });
  assert.deepEqual(face, { ...step("face"), kind: "document_chip", tries: 2, passed: false });
  const untouched = plan({ methods: ["document_chip"], steps: {} }, among);
  assert.deepEqual(
    untouched.map(({ tries, passed }) => [tries, passed]),
    [
      [0, false],
      [0, false],
    ],
  );
});

test("a session has succeeded when all steps of one kind have passed, whichever is passed last", () => {
  const completed = (steps: Record<string, typeof passedAt>, passing: string) => {
    const planned = plan({ methods: ["document_chip", "wallet_pid"], steps }, among);
    const found = planned.find(({ name }) => name === passing);
    assert.ok(found);
    return isCompletedBy(planned, found);
  };
  assert.equal(completed({}, "chip"), false);
  assert.equal(completed({}, "face"), false);
  assert.equal(completed({ chip: passedAt }, "chip"), false);
  assert.equal(completed({ chip: passedAt }, "face"), true);
  assert.equal(completed({ face: passedAt }, "chip"), true);
  assert.equal(completed({}, "presentation"), true);
  assert.equal(completed({ presentation: passedAt }, "face"), false);
});

test("a session that does not say its methods reads a chip, by the rules of that kind", () => {
  const planned = plan({ methods: null, steps: {} });
  assert.deepEqual(
    planned.map(({ name, maxTries, forgivesChallenges }) => [name, maxTries, forgivesChallenges]),
    [
      ["chip", 3, false],
      ["face", 3, true],
    ],
  );
});
