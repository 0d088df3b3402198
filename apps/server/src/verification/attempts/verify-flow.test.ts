import assert from "node:assert/strict";
import { test } from "node:test";
import { type FailureCode, failureCodes } from "@assay/contract/sessions";
import {
  type DeviceInputType,
  type FaceMode,
  phaseRules,
  verifyPhases,
  verifySocketLimits,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage } from "@assay/contract/verify-socket";
import type { Challenge } from "@assay/face/challenge";
import fc from "fast-check";
import { knownId } from "../../platform/kernel/ids.ts";
import {
  advance,
  type FlowEffect,
  type FlowInput,
  type FlowState,
  maxFreeChallenges,
  startFlow,
} from "./verify-flow.ts";

const challenge: Challenge = {
  movements: ["turn_left"],
  colours: ["red", "blue"],
  colourMs: 900,
  deadlineMs: 20_000,
};

const start = new Date("2026-03-01T09:30:00.000Z");
const exchangeOf = (n: number) => String(n).padStart(22, "x");

type Message = Exclude<DeviceMessage, { type: "hello" }>;
/** One move of a device, and how the service's own work ends where the move causes some. */
type Move = { device: FlowInput; pass: boolean; proof: 0 | 1 | 2; fault: boolean; waitMs: number };

const file = fc.constantFrom("COM", "SOD", "DG1", "DG2", "DG14", "DG15").chain((name) =>
  fc.record({
    type: fc.constant("chip_file" as const),
    artifact: fc.integer({ min: 1, max: 6 }),
    file: fc.constant(name as "SOD"),
    size: fc.constantFrom(1, 10, 300, 2_000_000),
  }),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  file,
  fc.constant({ type: "chip_done" as const }),
  fc.record({
    type: fc.constant("chip_answer" as const),
    exchange: fc.integer({ min: 0, max: 8 }).map(exchangeOf),
    answers: fc.constantFrom<string[]>([], ["kAA="], ["kAA=", "kAA=", "kAA="]),
  }),
  fc.constant({ type: "chip_lost" as const }),
  fc.constant({ type: "chip_restart" as const }),
  fc.constant({ type: "face_start" as const }),
  fc.constant({ type: "face_start" as const, camera: true }),
  fc.record({
    type: fc.constant("face_frame" as const),
    artifact: fc.integer({ min: 1, max: 6 }),
    size: fc.constantFrom(1, 10),
    at_ms: fc.constant(5),
  }),
  fc.constant({ type: "face_done" as const }),
);
const anything: fc.Arbitrary<FlowInput> = fc.oneof(
  { weight: 8, arbitrary: message.map((each): FlowInput => ({ kind: "message", message: each })) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("part" as const),
      part: fc.record({
        artifact: fc.integer({ min: 1, max: 6 }),
        offset: fc.constantFrom(0, 1, 10),
        total: fc.constantFrom(1, 10, 300),
        length: fc.constantFrom(0, 1, 10, 300),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<FlowInput>({ kind: "attached" }) },
  { weight: 1, arbitrary: fc.constant<FlowInput>({ kind: "forgotten" }) },
);

/** An honest reading in one go, so that random sequences get far enough to be interesting. */
function reading(exchange: string): FlowInput[] {
  const files = ["SOD", "DG1", "DG2"] as const;
  return [
    { kind: "message", message: { type: "chip_restart" } },
    ...files.flatMap((name, i): FlowInput[] => [
      { kind: "message", message: { type: "chip_file", artifact: i + 1, file: name, size: 10 } },
      { kind: "part", part: { artifact: i + 1, offset: 0, total: 10, length: 10 } },
    ]),
    { kind: "message", message: { type: "chip_done" } },
    { kind: "message", message: { type: "chip_answer", exchange, answers: ["kAA="] } },
  ];
}

const faces: FlowInput[] = [
  { kind: "message", message: { type: "face_start" } },
  { kind: "message", message: { type: "face_frame", artifact: 9, size: 1, at_ms: 1 } },
  { kind: "part", part: { artifact: 9, offset: 0, total: 1, length: 1 } },
  { kind: "message", message: { type: "face_done" } },
];

const moves: fc.Arbitrary<Move[]> = fc
  .array(
    fc.record({
      inputs: fc.oneof(
        anything.map((each) => [each]),
        fc.integer({ min: 0, max: 8 }).map((n) => reading(exchangeOf(n))),
        fc.constant(faces),
      ),
      pass: fc.boolean(),
      proof: fc.constantFrom(0, 1, 2),
      fault: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      waitMs: fc.constantFrom(0, 0, 0, 60_000),
    }),
    { maxLength: 40 },
  )
  .map((all) => all.flatMap(({ inputs, ...rest }) => inputs.map((device) => ({ device, ...rest }) as Move)));

/** Plays moves against the machine, with the chosen verdicts, and records its effects. */
function play(faceMode: FaceMode, all: readonly Move[]) {
  let state: FlowState = startFlow(
    {
      sessionId: knownId("vs_1"),
      attemptId: knownId("va_1"),
      sandbox: true,
      faceMode,
      expiresAt: start.toISOString(),
    },
    { chip: 0, face: 0, chipPassed: false },
  );
  let time = start.getTime();
  let exchanges = 0;
  const seen = {
    /** The chip's verdicts in the try under way, and whether a chip that has passed is still pinned. */
    filesPassed: false,
    proofAsked: false,
    proofPassed: false,
    pinned: false,
    facePassed: false,
    ends: 0,
    verdicts: { chip: 0, face: 0 },
    counted: { chip: 0, face: 0 },
    chipPassesCounted: 0,
    unanswered: 0,
  };
  for (const move of all) {
    time += move.waitMs;
    const inputs: FlowInput[] = [move.device];
    if (move.device.kind === "forgotten") seen.pinned = false;
    for (let input = inputs.shift(); input !== undefined; input = inputs.shift()) {
      const before = state;
      const step = advance(state, input, new Date(time));
      state = step.state;
      if (before.phase === "ended") {
        assert.equal(state.phase, "ended");
        assert.ok(step.effects.every((effect) => effect.kind === "close" && effect.code === "SESSION_ENDED"));
      }
      const verdict = { failureCode: move.pass ? null : (failureCodes[0] as FailureCode) };
      for (const effect of step.effects) {
        switch (effect.kind) {
          case "expect_artifact":
            if ("file" in effect.what)
              assert.ok(!seen.pinned, "nothing of the chip is taken after it passed");
            break;
          case "check_chip":
            assert.ok(!seen.pinned, "a chip that passed is not checked again");
            seen.filesPassed = false;
            seen.proofAsked = false;
            seen.proofPassed = false;
            if (move.fault) inputs.push({ kind: "fault", code: "CHECK_FAILED_TO_RUN" });
            else {
              const proof = move.proof === 0 ? null : "chip_authentication";
              seen.filesPassed = move.pass;
              if (!move.pass || proof === null) seen.verdicts.chip += 1;
              inputs.push({ kind: "chip_checked", verdict, proof: move.pass ? proof : null });
            }
            break;
          case "begin_proof":
            assert.ok(seen.filesPassed && !seen.pinned, "a proof is asked of files that passed");
            seen.proofAsked = true;
            exchanges += 1;
            inputs.push({
              kind: "proof_commands",
              exchange: exchangeOf(exchanges % 9),
              commandKind: "challenge",
              commands: ["AAAA"],
            });
            break;
          case "check_answers":
            assert.ok(seen.proofAsked && !seen.pinned);
            if (move.fault) inputs.push({ kind: "fault", code: "CHECK_FAILED_TO_RUN" });
            else {
              seen.verdicts.chip += 1;
              seen.proofPassed = move.pass;
              inputs.push({ kind: "proof_judged", verdict });
            }
            break;
          case "pin_chip":
            assert.ok(seen.filesPassed && (!seen.proofAsked || seen.proofPassed), "no check is skipped");
            assert.ok(!seen.pinned, "it passes once");
            seen.pinned = true;
            break;
          case "record": {
            const { step, number } = effect;
            const { failureCode } = effect.verdict;
            assert.equal(number, seen.counted[step] + 1, "tries are numbered without a gap");
            const succeeds = step === "face" && failureCode === null;
            if (succeeds)
              assert.ok(seen.pinned && seen.facePassed, "success needs a chip and a face that passed");
            if (move.fault) {
              if (succeeds) seen.facePassed = false;
              inputs.push({ kind: "fault", code: "STORE_UNAVAILABLE" });
              break;
            }
            if (step === "face" && failureCode === "liveness_failed") seen.verdicts.face += 1;
            if (step === "face") seen.unanswered = 0;
            if (!succeeds) seen.counted[step] += 1;
            if (step === "chip" && failureCode === null) seen.chipPassesCounted += 1;
            if (succeeds || (failureCode !== null && number >= 3)) {
              seen.ends += 1;
              inputs.push({ kind: "session_ended", verdict: effect.verdict });
            } else inputs.push({ kind: "counted", step, verdict: effect.verdict });
            break;
          }
          case "new_face_challenge":
            assert.ok(seen.pinned, "the face comes after the chip");
            if (move.fault) inputs.push({ kind: "fault", code: "CHECK_FAILED_TO_RUN" });
            else if (seen.unanswered >= maxFreeChallenges) inputs.push({ kind: "challenges_spent" });
            else {
              seen.unanswered += 1;
              inputs.push({ kind: "face_challenge", challenge, nonce: "bm9uY2U=" });
            }
            break;
          case "give_back_challenge":
            assert.ok(seen.unanswered > 0, "what is given back was handed out");
            seen.unanswered -= 1;
            break;
          case "judge_face":
            assert.ok(seen.pinned, "the face is matched to a chip that passed");
            assert.notEqual(faceMode, "unavailable");
            if (move.fault) inputs.push({ kind: "fault", code: "CHECK_FAILED_TO_RUN" });
            else {
              if (move.pass) seen.facePassed = true;
              else seen.verdicts.face += 1;
              // Not `liveness_failed`, which is the flow's verdict on a late answer, so that the two differ.
              inputs.push({
                kind: "face_judged",
                verdict: { failureCode: move.pass ? null : "selfie_face_mismatch" },
              });
            }
            break;
          default:
        }
      }
      assert.ok(seen.ends <= 1, "a session ends once");
      assert.ok(seen.counted.chip <= seen.verdicts.chip, "only a verdict on the chip is counted");
      assert.ok(seen.counted.face <= seen.verdicts.face, "only a verdict on the face is counted");
      assert.ok(seen.chipPassesCounted <= 1, "a chip that has to be read again costs no try");
    }
    assert.equal(state.phase === "ended", seen.ends === 1, "it has ended when an end was written");
  }
  return { state, seen };
}

const samples: Readonly<Record<DeviceInputType, FlowInput>> = {
  chip_file: { kind: "message", message: { type: "chip_file", artifact: 1, file: "SOD", size: 10 } },
  chip_done: { kind: "message", message: { type: "chip_done" } },
  chip_answer: {
    kind: "message",
    message: { type: "chip_answer", exchange: exchangeOf(1), answers: [] },
  },
  chip_lost: { kind: "message", message: { type: "chip_lost" } },
  chip_restart: { kind: "message", message: { type: "chip_restart" } },
  face_start: { kind: "message", message: { type: "face_start" } },
  face_frame: { kind: "message", message: { type: "face_frame", artifact: 1, size: 10, at_ms: 0 } },
  face_done: { kind: "message", message: { type: "face_done" } },
  part: { kind: "part", part: { artifact: 1, offset: 0, total: 10, length: 10 } },
};

test("a message that the protocol's table does not allow changes nothing and closes with the table's code", () => {
  for (const [type, rules] of Object.entries(phaseRules))
    for (const phase of verifyPhases) {
      const state: FlowState = { ...beforeTheCamera(), phase };
      const step = advance(state, samples[type as DeviceInputType], start);
      const rule = rules[phase];
      if (rule !== "taken")
        assert.deepEqual(step, { state, effects: [{ kind: "close", code: rule }] }, `${type} in ${phase}`);
      else assert.notDeepEqual(step, { state, effects: [] }, `${type} in ${phase}`);
    }
});

const says = (message: Message): FlowInput => ({ kind: "message", message });

/** The state after the chip has passed. */
function beforeTheCamera(): FlowState {
  const state = startFlow(
    {
      sessionId: knownId("s"),
      attemptId: knownId("a"),
      sandbox: false,
      faceMode: "camera",
      expiresAt: "2026-01-01T00:00:00.000Z",
    },
    { chip: 1, face: 0, chipPassed: true },
  );
  return { ...state, phase: "face" };
}

function answerChallenge(from: FlowState): FlowState {
  const now = new Date(0);
  let { state, effects } = advance(from, says({ type: "face_start" }), now);
  assert.deepEqual(effects, [{ kind: "new_face_challenge", stillHead: false }]);
  ({ state } = advance(state, { kind: "face_challenge", challenge, nonce: "bm9uY2U=" }, now));
  ({ state, effects } = advance(state, says({ type: "face_done" }), now));
  assert.deepEqual(effects.at(-1), {
    kind: "judge_face",
    by: { challenge, nonce: "bm9uY2U=", startedAtMs: 0 },
    attestation: null,
  });
  return state;
}

test("who connects again while a challenge runs gets the same one with the time that is left, and no new one", () => {
  const { deadlineMs } = challenge;
  let { state, effects } = advance(beforeTheCamera(), says({ type: "face_start" }), start);
  ({ state, effects } = advance(state, { kind: "face_challenge", challenge, nonce: "bm9uY2U=" }, start));
  const asked = challengesIn(effects);
  assert.equal(asked.length, 1);
  for (const afterMs of [0, 1, deadlineMs - 1]) {
    const again = advance(state, { kind: "attached" }, new Date(start.getTime() + afterMs));
    assert.equal(again.state.phase, "face_capture");
    assert.deepEqual(again.state.face, { challenge, nonce: "bm9uY2U=", startedAtMs: start.getTime() });
    assert.deepEqual(challengesIn(again.effects), [{ ...asked[0], deadline_ms: deadlineMs - afterMs }]);
    assert.ok(
      !again.effects.some((effect) => effect.kind === "new_face_challenge"),
      "it is not a new challenge",
    );
  }
  const late = advance(state, { kind: "attached" }, new Date(start.getTime() + deadlineMs));
  assert.equal(late.state.phase, "face");
  assert.equal(late.state.face, null);
  assert.deepEqual(challengesIn(late.effects), []);
});

function challengesIn(effects: readonly FlowEffect[]) {
  return effects.flatMap((effect) =>
    effect.kind === "send" && effect.message.type === "face_challenge" ? [effect.message] : [],
  );
}

function faultCodes(effects: readonly FlowEffect[]): string[] {
  return effects.flatMap((effect) =>
    effect.kind === "send" && effect.message.type === "fault" ? [effect.message.code] : [],
  );
}

test("a proof is begun again as often as the limit says, by a new connection or a chip that was lost, and no more", () => {
  const proving: FlowState = { ...beforeTheCamera(), phase: "chip_proof", proof: "chip_authentication" };
  const begun = { kind: "begin_proof", proof: "chip_authentication" };
  for (const again of [{ kind: "attached" } as const, says({ type: "chip_lost" })]) {
    let state = proving;
    for (let time = 0; time < verifySocketLimits.proofRestarts; time++) {
      const step = advance(state, again, start);
      assert.deepEqual(step.effects.at(-1), begun, `time ${time + 1}`);
      assert.equal(step.state.phase, "chip_proof");
      ({ state } = step);
    }
    const { effects } = advance(state, again, start);
    assert.ok(!effects.some((effect) => effect.kind === "begin_proof"), "once more");
  }
});

test("answers that we cannot judge cost no try, and the challenge is given back before the device hears of it", () => {
  for (const code of ["CHECK_FAILED_TO_RUN", "STORE_UNAVAILABLE"] as const) {
    const { state, effects } = advance(
      answerChallenge(beforeTheCamera()),
      { kind: "fault", code },
      new Date(0),
    );
    assert.deepEqual(faultCodes(effects), [code]);
    assert.deepEqual(
      effects.map((effect) => effect.kind),
      ["wipe", "give_back_challenge", "send"],
    );
    const brokeDown = code === "CHECK_FAILED_TO_RUN";
    assert.deepEqual(effects[1], { kind: "give_back_challenge", brokeDown });
    assert.equal(state.triesUsed.face, 0);
  }
  // One that was not answered stays counted.
  const { effects } = advance(beforeTheCamera(), { kind: "fault", code: "FACE_CHECK_BUSY" }, new Date(0));
  assert.ok(!effects.some((effect) => effect.kind === "give_back_challenge"));
});

test("a full queue never adds up to anything; an unusable portrait is reported at once from then on", () => {
  let state = beforeTheCamera();
  for (let round = 0; round < 20; round++)
    state = advance(answerChallenge(state), { kind: "fault", code: "FACE_CHECK_BUSY" }, new Date(0)).state;
  state = advance(answerChallenge(state), { kind: "fault", code: "PORTRAIT_UNUSABLE" }, new Date(0)).state;
  const { effects } = advance(state, says({ type: "face_start" }), new Date(0));
  assert.deepEqual(faultCodes(effects), ["PORTRAIT_UNUSABLE"]);
  assert.equal(state.triesUsed.face, 0);
});

for (const mode of ["camera", "simulated"] as const) {
  test(`${mode}: no sequence skips a check, passes twice, takes what is pinned again, or counts a fault`, () => {
    let successes = 0;
    fc.assert(
      fc.property(moves, (all) => {
        const { seen } = play(mode, all);
        if (seen.facePassed && seen.ends === 1) successes += 1;
      }),
      { numRuns: 1500 },
    );
    assert.ok(successes > 0, "the sequences get as far as a success");
  });
}

test("without a face check no session succeeds, and nothing is counted for it", () => {
  fc.assert(
    fc.property(moves, (all) => {
      const { state, seen } = play("unavailable", all);
      assert.equal(seen.facePassed, false);
      assert.equal(seen.counted.face, 0);
      assert.ok(state.phase !== "ended" || seen.counted.chip >= 3);
    }),
    { numRuns: 500 },
  );
});

test("looking for an easier challenge costs a try", () => {
  const attached: Move = { device: { kind: "attached" }, pass: true, proof: 0, fault: false, waitMs: 60_000 };
  const chip = reading(exchangeOf(0))
    .slice(0, -1)
    .map((device): Move => ({ device, pass: true, proof: 0, fault: false, waitMs: 0 }));
  const ask: Move = {
    device: { kind: "message", message: { type: "face_start" } },
    pass: true,
    proof: 0,
    fault: false,
    waitMs: 0,
  };
  const free = Array.from({ length: maxFreeChallenges }, () => [ask, attached]).flat();
  assert.equal(play("camera", [...chip, ...free]).seen.counted.face, 0);
  assert.equal(play("camera", [...chip, ...free, ask]).seen.counted.face, 1);
});

test("a capture that cannot pass any more is counted at once, and what the device sent before it knew is dropped", () => {
  const verdict = { failureCode: "liveness_failed", reasons: ["movement_wrong"] } as const;
  const failed: FlowInput = { kind: "face_failed_early", verdict };
  let { state } = advance(beforeTheCamera(), says({ type: "face_start" }), start);
  assert.deepEqual(advance(state, failed, start).effects, [], "there is no capture yet");
  ({ state } = advance(state, { kind: "face_challenge", challenge, nonce: "bm9uY2U=" }, start));
  const early = advance(state, failed, start);
  assert.deepEqual(early.effects, [
    { kind: "send", message: { type: "checking", phase: "face_check", busy: false } },
    { kind: "record", step: "face", number: 1, verdict },
  ]);
  ({ state } = advance(early.state, { kind: "counted", step: "face", verdict }, start));
  assert.deepEqual([state.phase, state.triesUsed.face], ["face", 1]);
  for (const type of ["face_frame", "part", "face_done"] as const)
    assert.deepEqual(advance(state, samples[type], start), { state, effects: [] });
  // The next try, or another socket, has no late frames: they are a mistake again.
  for (const next of [says({ type: "face_start" }), { kind: "attached" } as const]) {
    const later = advance(state, next, start).state;
    for (const type of ["face_frame", "part", "face_done"] as const)
      assert.equal(advance({ ...later, phase: "face" }, samples[type], start).effects[0]?.kind, "close");
  }
});
