import assert from "node:assert/strict";
import { test } from "node:test";
import { hasWalletFailed, stepOfPhase, stepsOf } from "./steps.ts";

const step = (name: string) => ({ name, tries_used: 0, tries_left: 3, passed: false });
const status = { steps: [step("chip"), step("face")] };

test("the steps are those of the session, between agreeing and being done", () => {
  assert.deepEqual(stepsOf(status, null), ["consent", "chip", "face", "done"]);
  assert.deepEqual(stepsOf({ steps: [step("wallet")] }, "wallet"), ["consent", "wallet", "done"]);
});

test("where a wallet is one of two ways, the steps are those of the way that the person takes or has taken", () => {
  const [chip, face, wallet] = [step("chip"), step("face"), step("wallet")];
  const both = { steps: [chip, face, wallet] };
  const ofChip = ["consent", "chip", "face", "done"];
  const ofWallet = ["consent", "wallet", "done"];
  assert.deepEqual(stepsOf(both, "consent"), ofChip, "the partner's first one");
  assert.deepEqual(stepsOf({ steps: [wallet, chip, face] }, "consent"), ofWallet);
  assert.deepEqual(stepsOf(both, "wallet"), ofWallet);
  assert.deepEqual(stepsOf({ steps: [wallet, chip, face] }, "face"), ofChip);
  assert.deepEqual(stepsOf({ steps: [chip, face, { ...wallet, passed: true }] }, "done"), ofWallet);
});

test("while the person chooses between several ways, choosing is the step", () => {
  const several = { steps: [step("wallet"), step("chip"), step("face")] };
  assert.deepEqual(stepsOf(several, "choose"), ["consent", "choose", "done"]);
});

test("a wallet has failed the session when its tries are used up", () => {
  const used = { ...step("wallet"), tries_used: 3, tries_left: 0 };
  assert.equal(hasWalletFailed({ steps: [step("chip"), used] }), true);
  assert.equal(hasWalletFailed({ steps: [{ ...step("chip"), tries_left: 0 }, step("wallet")] }), false);
});

test("a phase of the device belongs to the step whose name it begins with, and to the first before there is one", () => {
  const named = (phase: string | null) => stepOfPhase(status, phase)?.name;
  assert.equal(named("chip"), "chip");
  assert.equal(named("chip_proof"), "chip");
  assert.equal(named("face"), "face");
  assert.equal(named("face_capture"), "face");
  assert.equal(named("facet"), "chip");
  assert.equal(named(null), "chip");
});

test("an answer of the release before, which names no steps, breaks nothing", () => {
  const before = {} as typeof status;
  assert.deepEqual(stepsOf(before, null), ["consent", "done"]);
  assert.equal(stepOfPhase(before, "chip"), null);
});
