import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ChipFile,
  chipFileLimits,
  type FaceMode,
  verifySocketLimits as limits,
  verifyFaultCodes,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import type { Challenge } from "@assay/face/challenge";
import { knownId } from "../../platform/kernel/ids.ts";
import {
  advance,
  type FlowEffect,
  type FlowInput,
  type FlowState,
  startFlow,
  triesLeft,
} from "./verify-flow.ts";

const start = new Date("2026-03-01T09:30:00.000Z");
const later = (ms: number) => new Date(start.getTime() + ms);
const nonce = "bm9uY2U=";
const challenge: Challenge = {
  ...{ movements: ["turn_left", "look_up"], colours: ["red"], colourMs: 900, deadlineMs: 20_000 },
};

function begun(faceMode: FaceMode = "camera", known = { chip: 0, face: 0, chipPassed: false }): FlowState {
  return startFlow(
    {
      sessionId: knownId("vs_1"),
      attemptId: knownId("va_1"),
      ...{ sandbox: true, faceMode, expiresAt: "2026-03-01T10:30:00.000Z" },
    },
    known,
  );
}

type Message = Exclude<DeviceMessage, { type: "hello" }>;
const says = (message: Message): FlowInput => ({ kind: "message", message });
const part = (artifact: number, offset: number, total: number, length: number): FlowInput => ({
  kind: "part",
  part: { artifact, offset, total, length },
});
const file = (artifact: number, name: ChipFile, size: number) =>
  says({ type: "chip_file", artifact, file: name, size });
const frame = (artifact: number, size: number) => says({ type: "face_frame", artifact, size, at_ms: 40 });

/** The state and the effects after all of these. */
function after(
  state: FlowState,
  ...inputs: readonly FlowInput[]
): { state: FlowState; effects: FlowEffect[] } {
  const effects: FlowEffect[] = [];
  for (const input of inputs) {
    const step = advance(state, input, start);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const closed = (code: string): FlowEffect[] => [{ kind: "close", code } as FlowEffect];
const sent = (effects: readonly FlowEffect[]): ServiceMessage[] =>
  effects.flatMap((effect) => (effect.kind === "send" ? [effect.message] : []));
const ofType = (effects: readonly FlowEffect[], type: ServiceMessage["type"]) =>
  sent(effects).find((message) => message.type === type);

/** Complete chip files of one byte each. */
const files = (...names: ChipFile[]): FlowInput[] =>
  names.flatMap((name, index) => [file(index + 1, name, 1), part(index + 1, 0, 1, 1)]);

const capturing = () =>
  after({ ...begun(), phase: "face" }, { kind: "face_challenge", challenge, nonce }).state;

test("a file may have the bytes that its kind may have, and is announced once", () => {
  for (const [name, most] of Object.entries(chipFileLimits) as [ChipFile, number][]) {
    assert.deepEqual(after(begun(), file(1, name, most)).effects, [
      { kind: "expect_artifact", artifact: 1, size: most, what: { file: name } },
    ]);
    assert.deepEqual(after(begun(), file(1, name, most + 1)).effects, closed("ARTIFACT_INVALID"), name);
  }
  const once = after(begun(), file(1, "SOD", 5)).state;
  assert.deepEqual(after(once, file(2, "SOD", 5)).effects, closed("ARTIFACT_INVALID"), "the same file");
  assert.deepEqual(after(once, file(1, "DG1", 5)).effects, closed("ARTIFACT_INVALID"), "the same number");
});

test("all files together have a limit, as have the frames of a try in bytes and in number", () => {
  const large = after(begun(), file(1, "DG2", chipFileLimits.DG2), file(2, "SOD", chipFileLimits.SOD)).state;
  const left = limits.chipBytes - chipFileLimits.DG2 - chipFileLimits.SOD;
  assert.equal(
    after({ ...large, announcedBytes: limits.chipBytes - 1 }, file(3, "COM", 1)).effects[0]?.kind,
    "expect_artifact",
  );
  assert.deepEqual(
    after({ ...large, announcedBytes: limits.chipBytes }, file(3, "COM", 1)).effects,
    closed("ARTIFACT_INVALID"),
  );
  assert.ok(left > 0);
  let state = capturing();
  for (let number = 1; number <= limits.faceFrames; number++) {
    const step = after(state, frame(number, 1));
    assert.deepEqual(step.effects, [
      { kind: "expect_artifact", artifact: number, size: 1, what: { frameAtMs: 40 } },
    ]);
    ({ state } = step);
  }
  assert.deepEqual(after(state, frame(999, 1)).effects, closed("ARTIFACT_INVALID"));
  const full = { ...capturing(), announcedBytes: limits.faceBytes - 10 };
  assert.equal(after(full, frame(1, 10)).effects[0]?.kind, "expect_artifact");
  assert.deepEqual(after(full, frame(1, 11)).effects, closed("ARTIFACT_INVALID"));
});

test("parts come in order, of what was announced, and no more than that", () => {
  const { state } = after(begun(), file(1, "SOD", 10));
  assert.deepEqual(after(state, part(1, 0, 10, 4), part(1, 4, 10, 6)).effects, [
    { kind: "keep_part", artifact: 1, offset: 0 },
    { kind: "keep_part", artifact: 1, offset: 4 },
  ]);
  for (const wrong of [
    part(2, 0, 10, 4),
    part(1, 1, 10, 4),
    part(1, 0, 9, 4),
    part(1, 0, 10, 0),
    part(1, 0, 10, 11),
  ])
    assert.deepEqual(after(state, wrong), { state, effects: closed("ARTIFACT_INVALID") });
});

test("a chip is checked once all that is needed of it is there whole", () => {
  const done = says({ type: "chip_done" });
  const whole = after(begun(), ...files("SOD", "DG1", "DG2"), done);
  assert.deepEqual(whole.effects.slice(-2), [
    { kind: "send", message: { type: "checking", phase: "chip_check", busy: false } },
    { kind: "check_chip" },
  ]);
  assert.equal(whole.state.phase, "chip_check");
  for (const names of [
    ["SOD", "DG1"],
    ["SOD", "DG2"],
    ["DG1", "DG2"],
  ] as const)
    assert.deepEqual(after(begun(), ...files(...names), done).effects.slice(-1), closed("OUT_OF_ORDER"));
  const partial = after(begun(), ...files("SOD", "DG1", "DG2"), file(9, "COM", 2), part(9, 0, 2, 1), done);
  assert.deepEqual(partial.effects.slice(-1), closed("OUT_OF_ORDER"));
});

const proving = (): FlowState => {
  const checked: FlowState = { ...begun(), phase: "chip_check" };
  const passed: FlowInput = {
    kind: "chip_checked",
    verdict: { failureCode: null },
    proof: "chip_authentication",
  };
  const commands: FlowInput = {
    ...{ kind: "proof_commands", exchange: "x1", commandKind: "sealed", commands: ["AAAA", "BBBB"] },
  };
  const { state, effects } = after(checked, passed, commands);
  assert.deepEqual(effects, [
    { kind: "begin_proof", proof: "chip_authentication" },
    {
      kind: "send",
      message: {
        ...{ type: "chip_command", exchange: "x1", proof: "chip_authentication", kind: "sealed" },
        commands: ["AAAA", "BBBB"],
      },
    },
  ]);
  return state;
};

test("answers belong to the exchange that runs, and there are at most as many as commands", () => {
  const answer = (exchange: string, answers: string[]) => says({ type: "chip_answer", exchange, answers });
  const state = proving();
  for (const answers of [[], ["a"], ["a", "b"]]) {
    const step = after(state, answer("x1", answers));
    assert.deepEqual(step.effects, [{ kind: "check_answers", proof: "chip_authentication", answers }]);
    assert.deepEqual(
      after(step.state, answer("x1", answers)).effects,
      closed("STALE_EXCHANGE"),
      "an exchange is answered once",
    );
  }
  assert.deepEqual(after(state, answer("x1", ["a", "b", "c"])).effects, closed("MESSAGE_INVALID"));
  assert.deepEqual(after(state, answer("x2", [])).effects, closed("STALE_EXCHANGE"));
});

test("a proof that is begun again has a fresh exchange, and one that is judged ends with its try", () => {
  const { state } = after(proving(), says({ type: "chip_lost" }));
  assert.deepEqual([state.exchange, state.proofRestarts], [null, 1]);
  const judged = after(proving(), { kind: "proof_judged", verdict: { failureCode: null } });
  assert.deepEqual(judged.effects, [
    { kind: "record", step: "chip", number: 1, verdict: { failureCode: null } },
  ]);
  assert.deepEqual([judged.state.phase, judged.state.exchange], ["chip_check", null]);
  const again = after(proving(), says({ type: "chip_restart" }));
  assert.deepEqual(again.effects, [{ kind: "wipe", what: "chip" }]);
  assert.deepEqual([again.state.phase, again.state.proof, again.state.artifacts.size], ["chip", null, 0]);
});

test("results of the service's work that come in another phase change nothing", () => {
  const verdict = { failureCode: null } as const;
  const commands: FlowInput = { kind: "proof_commands", exchange: "x", commandKind: "sealed", commands: [] };
  const results: readonly (readonly [FlowInput, readonly FlowState["phase"][]])[] = [
    [{ kind: "chip_checked", verdict, proof: null }, ["chip", "chip_proof", "face"]],
    [commands, ["chip", "chip_check", "face"]],
    [{ kind: "proof_judged", verdict }, ["chip", "chip_check", "face"]],
    [{ kind: "face_challenge", challenge, nonce }, ["chip", "face_capture", "face_check"]],
    [{ kind: "challenges_spent" }, ["chip", "face_capture", "face_check"]],
    [{ kind: "face_judged", verdict }, ["chip", "face", "face_capture"]],
    [{ kind: "face_failed_early", verdict }, ["chip", "face", "face_check"]],
    [{ kind: "counted", step: "chip", verdict }, ["chip", "face", "face_check"]],
    [{ kind: "counted", step: "face", verdict }, ["chip_check", "face", "face_capture"]],
  ];
  for (const [input, phases] of results)
    for (const phase of phases)
      for (const reached of [begun(), proving(), capturing()]) {
        const state = { ...reached, phase };
        assert.deepEqual(after(state, input), { state, effects: [] }, `${input.kind} in ${phase}`);
      }
  const unproven: FlowState = { ...begun(), phase: "chip_proof" };
  assert.deepEqual(after(unproven, commands), { state: unproven, effects: [] });
});

test("a device is welcomed with what it needs to go on, and hears that the session has ended", () => {
  const { state, effects } = after(begun("simulated", { chip: 1, face: 2, chipPassed: false }), {
    kind: "attached",
  });
  assert.deepEqual(effects, [
    { kind: "wipe", what: "chip" },
    {
      kind: "send",
      message: {
        ...{ type: "welcome", protocol: "verify.v1", session_id: "vs_1", attempt_id: "va_1", sandbox: true },
        ...{ phase: "chip", resumed: false, tries_left: { chip: 2, face: 1 }, face: "simulated" },
        expires_at: "2026-03-01T10:30:00.000Z",
      },
    },
  ]);
  assert.deepEqual(
    after({ ...state, phase: "ended" }, { kind: "attached" }).effects,
    closed("SESSION_ENDED"),
  );
  const running = after(capturing(), frame(1, 5), { kind: "attached" });
  assert.deepEqual([running.state.artifacts.size, running.state.announcedBytes], [0, 0]);
  assert.deepEqual(running.effects.slice(-3, -2), [{ kind: "wipe", what: "face" }]);
  const message = ofType(running.effects, "welcome");
  assert.ok(message?.type === "welcome" && message.resumed && message.phase === "face_capture");
});

test("a device that connects during a proof goes on with it, and one whose face was being judged repeats the capture", () => {
  const proof = after(proving(), { kind: "attached" });
  const welcome = ofType(proof.effects, "welcome");
  assert.ok(welcome?.type === "welcome" && welcome.resumed && welcome.phase === "chip_proof");
  const judged = after({ ...capturing(), phase: "face_check" }, { kind: "attached" });
  assert.deepEqual([judged.state.phase, judged.state.face], ["face", null]);
  const again = ofType(judged.effects, "welcome");
  assert.ok(again?.type === "welcome" && again.resumed && again.phase === "face");
  assert.equal(ofType(judged.effects, "face_challenge"), undefined);
});

test("frames that are late are dropped until the next face or the next chip, whose bytes are taken", () => {
  const verdict = { failureCode: "liveness_failed", reasons: ["movement_wrong"] } as const;
  const endedEarly = (mode: FaceMode) =>
    after(
      { ...capturing(), attempt: begun(mode).attempt },
      { kind: "face_failed_early", verdict },
      { kind: "counted", step: "face", verdict },
    ).state;
  assert.deepEqual(after(endedEarly("camera"), frame(1, 2)).effects, []);
  const byDocument = after(
    endedEarly("simulated"),
    says({ type: "face_start" }),
    { kind: "face_judged", verdict },
    { kind: "counted", step: "face", verdict },
  );
  assert.equal(byDocument.state.phase, "face");
  assert.deepEqual(after(byDocument.state, frame(1, 2)).effects, closed("OUT_OF_ORDER"));
  const forgotten = after(endedEarly("camera"), { kind: "forgotten" }, { kind: "attached" }).state;
  assert.deepEqual(after(forgotten, file(1, "SOD", 1), part(1, 0, 1, 1)).effects.slice(-1), [
    { kind: "keep_part", artifact: 1, offset: 0 },
  ]);
});

test("tries are left as long as they are not used up, and a chip that has passed can always be read again", () => {
  assert.deepEqual(triesLeft(begun()), { chip: 3, face: 3 });
  assert.deepEqual(triesLeft(begun("camera", { chip: 4, face: 4, chipPassed: false })), { chip: 0, face: 0 });
  assert.deepEqual(triesLeft(begun("camera", { chip: 3, face: 1, chipPassed: true })), { chip: 1, face: 2 });
  assert.deepEqual(triesLeft(begun("camera", { chip: 1, face: 0, chipPassed: true })), { chip: 2, face: 3 });
});

test("a face is asked for with the camera or with the test document, as the session allows", () => {
  const face = (mode: FaceMode) => ({ ...begun(mode), phase: "face" }) as FlowState;
  const startFace = (more: object = {}) => says({ type: "face_start", ...more });
  const byDocument = after(face("simulated"), startFace());
  assert.equal(byDocument.state.phase, "face_check");
  assert.deepEqual(byDocument.effects, [
    { kind: "send", message: { type: "checking", phase: "face_check", busy: false } },
    { kind: "judge_face", by: "test_document", attestation: null },
  ]);
  for (const [mode, more, stillHead] of [
    ["simulated", { camera: true }, false],
    ["camera", {}, false],
    ["camera", { camera: true, still_head: true }, true],
  ] as const)
    assert.deepEqual(after(face(mode), startFace(more)).effects, [{ kind: "new_face_challenge", stillHead }]);
  const none = after(face("unavailable"), startFace());
  const code = "FACE_CHECK_UNAVAILABLE";
  assert.deepEqual(none.effects, [
    { kind: "wipe", what: "face" },
    { kind: "send", message: { type: "fault", code, message: verifyFaultCodes[code], phase: "face" } },
  ]);
});

test("an answer counts up to its deadline, and one that is late fails its try without a look", () => {
  const attestation = { certificates: ["AA=="], signature: "AA==" };
  const done = says({ type: "face_done", attestation });
  const inTime = advance(capturing(), done, later(challenge.deadlineMs));
  assert.deepEqual(inTime.effects.at(-1), {
    ...{ kind: "judge_face", by: { challenge, nonce, startedAtMs: start.getTime() }, attestation },
  });
  const late = advance(capturing(), done, later(challenge.deadlineMs + 1));
  assert.deepEqual(late.effects, [
    {
      ...{ kind: "record", step: "face", number: 1 },
      verdict: { failureCode: "liveness_failed", reasons: ["deadline_passed"] },
    },
  ]);
  const half = after(capturing(), frame(1, 2), part(1, 0, 2, 1));
  assert.deepEqual(after(half.state, done).effects, closed("OUT_OF_ORDER"));
  const whole = after(half.state, part(1, 1, 2, 1), done).effects.at(-1);
  assert.equal(whole?.kind, "judge_face", "an answer is complete once its frames are");
});

test("a capture that the device does not end is ended some time after its deadline", () => {
  const overdue = challenge.deadlineMs + limits.captureGraceMs;
  const { state } = after(capturing(), frame(1, 5));
  const time: FlowInput = { kind: "time_passed" };
  assert.deepEqual(advance(state, time, later(overdue)), { state, effects: [] });
  const ended = advance(state, time, later(overdue + 1));
  assert.deepEqual(ended.effects, [{ kind: "wipe", what: "face" }, ...closed("IDLE_TIMEOUT")]);
  assert.deepEqual(
    [ended.state.phase, ended.state.face, ended.state.artifacts.size, ended.state.triesUsed.face],
    ["face", null, 0, 0],
  );
  // What is being judged was answered in time.
  for (const other of [begun(), { ...state, phase: "face_check" } as const])
    assert.deepEqual(advance(other, time, later(overdue + 1)), { state: other, effects: [] });
});

test("a challenge says what is asked for and the time that is left", () => {
  const { effects } = after({ ...begun(), phase: "face" }, { kind: "face_challenge", challenge, nonce });
  assert.deepEqual(sent(effects), [
    {
      ...{ type: "face_challenge", movements: ["turn_left", "look_up"], colours: ["red"], colour_ms: 900 },
      ...{ deadline_ms: 20_000, nonce },
    },
  ]);
  const spent = after({ ...begun(), phase: "face" }, { kind: "challenges_spent" });
  assert.deepEqual(spent.effects, [
    {
      ...{ kind: "record", step: "face", number: 1 },
      verdict: { failureCode: "liveness_failed", reasons: ["challenges_not_answered"] },
    },
  ]);
});

test("a verdict is sent with the tries left and the next phase, and its bytes are overwritten", () => {
  const failed = { failureCode: "document_expired" } as const;
  const resultIn = (effects: readonly FlowEffect[]) => ofType(effects, "step_result");
  const refusedChip = after(
    {
      ...begun(),
      phase: "chip_check",
      artifacts: new Map([[1, { what: { file: "SOD" }, size: 1, received: 1 }]]),
    },
    { kind: "counted", step: "chip", verdict: failed },
  );
  assert.deepEqual(refusedChip.effects[0], { kind: "wipe", what: "chip" });
  assert.deepEqual(resultIn(refusedChip.effects), {
    ...{ type: "step_result", step: "chip", passed: false, failure_code: "document_expired" },
    ...{ unmet_requirement: null, tries_left: { chip: 2, face: 3 }, phase: "chip" },
  });
  assert.equal(refusedChip.state.artifacts.size, 0);
  const unmet = { failureCode: "document_authenticity_failed", unmetRequirement: "revocation" } as const;
  const refusedDemand = after(
    { ...begun(), phase: "chip_check" },
    { kind: "counted", step: "chip", verdict: unmet },
  );
  const message = resultIn(refusedDemand.effects);
  assert.ok(message?.type === "step_result" && message.unmet_requirement === "revocation");
  const passed = after(
    { ...proving(), phase: "chip_check" },
    { kind: "counted", step: "chip", verdict: { failureCode: null } },
  );
  assert.deepEqual(passed.effects[0], { kind: "pin_chip" });
  assert.deepEqual(resultIn(passed.effects), {
    ...{ type: "step_result", step: "chip", passed: true, failure_code: null, unmet_requirement: null },
    ...{ tries_left: { chip: 2, face: 3 }, phase: "face" },
  });
  assert.deepEqual(
    [passed.state.phase, passed.state.chipPassCounted, passed.state.triesUsed.chip, passed.state.proof],
    ["face", true, 1, null],
  );
  const refusedFace = after(
    { ...capturing(), phase: "face_check" },
    { kind: "counted", step: "face", verdict: { failureCode: "liveness_failed" } },
  );
  assert.deepEqual(refusedFace.effects[0], { kind: "wipe", what: "face" });
  assert.deepEqual([refusedFace.state.phase, refusedFace.state.face], ["face", null]);
});

test("a chip that has passed before is read again without a try, and counts where it fails then", () => {
  const known = { chip: 1, face: 1, chipPassed: true };
  const checking: FlowState = { ...begun("camera", known), phase: "chip_check" };
  const passed = after(checking, { kind: "chip_checked", verdict: { failureCode: null }, proof: null });
  assert.deepEqual([passed.effects[0], passed.state.phase], [{ kind: "pin_chip" }, "face"]);
  const verdict = { failureCode: "document_expired" } as const;
  const failed = after(checking, { kind: "chip_checked", verdict, proof: "chip_authentication" });
  assert.deepEqual(failed.effects, [{ kind: "record", step: "chip", number: 2, verdict }]);
});

test("an end is sent, overwrites everything and closes; so does an end from elsewhere", () => {
  const wiped = [
    { kind: "wipe", what: "chip" },
    { kind: "wipe", what: "face" },
  ] as const;
  const end = (input: FlowInput) => after({ ...capturing(), phase: "face_check" }, input);
  assert.deepEqual(end({ kind: "session_ended", verdict: { failureCode: null } }).effects, [
    ...wiped,
    {
      kind: "send",
      message: { type: "outcome", status: "succeeded", failure_code: null, unmet_requirement: null },
    },
    ...closed("OUTCOME"),
  ]);
  const failed = end({ kind: "session_ended", verdict: { failureCode: "liveness_failed" } });
  assert.deepEqual(sent(failed.effects), [
    { type: "outcome", status: "failed", failure_code: "liveness_failed", unmet_requirement: null },
  ]);
  assert.equal(failed.state.phase, "ended");
  assert.deepEqual(end({ kind: "session_over" }).effects, [...wiped, ...closed("SESSION_ENDED")]);
  assert.deepEqual(end({ kind: "superseded" }).effects, [...wiped, ...closed("REPLACED")]);
  const forgotten = end({ kind: "forgotten" });
  assert.deepEqual(
    [forgotten.effects, forgotten.state.phase, forgotten.state.face],
    [[...wiped], "chip", null],
  );
});

test("a fault goes back to where the step can be repeated, in the chip's part and in the face's", () => {
  const fault: FlowInput = { kind: "fault", code: "CHECK_FAILED_TO_RUN" };
  const chip = after(proving(), fault);
  assert.deepEqual(
    chip.effects.map((effect) => effect.kind),
    ["wipe", "send"],
  );
  assert.deepEqual(chip.effects[0], { kind: "wipe", what: "chip" });
  assert.deepEqual([chip.state.phase, chip.state.proof], ["chip", null]);
  for (const phase of ["face", "face_capture", "face_check"] as const) {
    const step = after({ ...capturing(), phase }, fault);
    assert.deepEqual(step.effects[0], { kind: "wipe", what: "face" });
    assert.deepEqual([step.state.phase, step.state.face], ["face", null], phase);
    assert.equal(
      step.effects.some((effect) => effect.kind === "give_back_challenge"),
      phase === "face_check",
    );
  }
  const unanswered = after({ ...capturing(), phase: "face_check", face: null }, fault);
  assert.ok(!unanswered.effects.some((effect) => effect.kind === "give_back_challenge"));
});
