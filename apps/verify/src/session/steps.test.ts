import assert from "node:assert/strict";
import { test } from "node:test";
import { stepOfPhase, stepsOf } from "./steps.ts";

const step = (name: string) => ({ name, tries_used: 0, tries_left: 3, passed: false });
const status = { steps: [step("chip"), step("face")] };

test("the steps are those of the session, between agreeing and being done", () => {
  assert.deepEqual(stepsOf(status), ["consent", "chip", "face", "done"]);
  assert.deepEqual(stepsOf({ steps: [step("presentation")] }), ["consent", "presentation", "done"]);
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
  assert.deepEqual(stepsOf(before), ["consent", "done"]);
  assert.equal(stepOfPhase(before, "chip"), null);
});
