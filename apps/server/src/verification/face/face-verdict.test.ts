import assert from "node:assert/strict";
import { test } from "node:test";
import type { Challenge } from "@assay/face/challenge";
import { colourAt, screenLight } from "@assay/face/colour-schedule";
import { alice, performed } from "@assay/face/test/performed-movements";
import { createLog } from "../../platform/lib/log.ts";
import { Metrics } from "../../platform/lib/metrics.ts";
import type { FaceJobResult } from "./face-job.ts";
import { createFaceJudge, type FaceJudgeOptions, type FaceVerdict, faceRisk } from "./face-judge.ts";
import { WorkerFault } from "./face-worker-pool.ts";

const challenge: Challenge = {
  movements: ["turn_left", "look_up", "turn_right", "come_closer"],
  colours: ["red", "green", "blue", "white", "blue", "red", "green", "white"],
  colourMs: 900,
  deadlineMs: 45_000,
};
const measured = performed(challenge.movements, { yaw: 0, pitch: 0, size: 180, tremble: 0 }, () => 0.5);

/** A portrait at this distance from the person in front of the camera. */
function portraitAt(distance: number): number[] {
  return alice.map((value, index) => (index === 0 ? value + distance : value));
}

async function verdictOn(
  answer: () => Promise<FaceJobResult>,
  options: Partial<FaceJudgeOptions> = {},
): Promise<FaceVerdict> {
  const judge = createFaceJudge({
    log: createLog({ level: "error", write: () => {}, now: () => new Date(0) }),
    metrics: new Metrics(),
    measurer: { warmUp() {}, hasCapacity: () => true, run: answer, look: () => null, async close() {} },
    ...options,
  });
  const frames = measured.map(({ atMs, receivedAtMs }) => ({ atMs, receivedAtMs, jpeg: new Uint8Array(9) }));
  return judge.judge({ challenge, frames, portrait: new Uint8Array(9), sandbox: false });
}

const at = (distance: number) => async (): Promise<FaceJobResult> => ({
  kind: "measured",
  frames: measured,
  portraitEmbedding: portraitAt(distance),
});

test("the verdict passes with what the risk score needs", async () => {
  const verdict = await verdictOn(at(0.3));
  assert.ok(verdict.kind === "passed", JSON.stringify(verdict));
  assert.ok(Math.abs(verdict.distance - 0.3) < 1e-9);
  // Nothing lights this face, so its colours cannot be measured.
  assert.equal(verdict.riskInputs.colours, "unmeasurable");
  assert.ok(Math.abs(faceRisk(verdict.riskInputs) - 0.1) < 1e-9);
});

test("the verdict names a close match apart from a plain mismatch, by the operator's distance", async () => {
  const mismatch = (reason: string) => ({
    kind: "failed",
    code: "selfie_face_mismatch",
    reasons: [reason],
  });
  assert.deepEqual(await verdictOn(at(0.58)), mismatch("match_in_review_band"));
  assert.deepEqual(await verdictOn(at(0.7)), mismatch("match_too_far"));
  const matchDistance = 0.1;
  assert.deepEqual(await verdictOn(at(0.3), { matchDistance }), mismatch("match_too_far"));
  assert.deepEqual(await verdictOn(at(0.105), { matchDistance }), mismatch("match_in_review_band"));
});

test("the verdict fails on a copy of the portrait, and on a face that turns without its surroundings", async () => {
  const failed = (reason: string) => ({ kind: "failed", code: "liveness_failed", reasons: [reason] });
  assert.deepEqual(await verdictOn(at(0.19)), failed("portrait_copied"));
  const turnedBy = (turnChange: number) => async (): Promise<FaceJobResult> => ({
    kind: "measured",
    frames: measured.map((frame) =>
      frame.face === null || Math.abs(frame.face.yaw) < 14
        ? frame
        : { ...frame, face: { ...frame.face, turnChange } },
    ),
    portraitEmbedding: portraitAt(0.3),
  });
  assert.deepEqual(await verdictOn(turnedBy(0.11)), failed("face_bent"));
  const passed = await verdictOn(turnedBy(0.13));
  assert.deepEqual(passed.kind === "passed" && passed.checks, [
    ...["movements", "one_person", "portrait", "not_a_copy"],
    "head_turned",
  ]);
});

test("the verdict names the checks that were passed, without those that could not be made", async () => {
  const verdict = await verdictOn(at(0.3));
  const always = ["movements", "one_person", "portrait", "not_a_copy"];
  assert.deepEqual(verdict.kind === "passed" && verdict.checks, always);
  const lit = measured.map((frame) => {
    if (frame.face === null) return frame;
    const light = screenLight[colourAt(challenge, frame.atMs)];
    const [red, green, blue] = frame.face.faceLight.map(
      (base, channel) => base * (1 + 0.05 * (light[channel] ?? 0)),
    );
    return { ...frame, face: { ...frame.face, faceLight: [red ?? 0, green ?? 0, blue ?? 0] as const } };
  });
  const seen = await verdictOn(async () => ({
    kind: "measured",
    frames: lit,
    portraitEmbedding: portraitAt(0.3),
  }));
  assert.deepEqual(seen.kind === "passed" && seen.checks, [...always, "colours"]);
});

test("the verdict fails on the colours only when the operator requires them", async () => {
  assert.deepEqual(await verdictOn(at(0.3), { colours: "require" }), {
    kind: "failed",
    code: "liveness_failed",
    reasons: ["colours_not_followed"],
  });
});

test("the verdict is a fault when the worker could not look, and an error when something else broke", async () => {
  const fault = await verdictOn(() => Promise.reject(new WorkerFault("timed_out")));
  assert.deepEqual(fault, { kind: "fault", reason: "timed_out" });
  await assert.rejects(
    verdictOn(() => Promise.reject(new TypeError("ours"))),
    TypeError,
  );
});

test("the verdict never carries a portrait's embedding or a frame's", async () => {
  for (const distance of [0.3, 0.58, 0.7]) {
    const text = JSON.stringify(await verdictOn(at(distance)));
    assert.ok(!text.includes("embedding") && text.length < 600);
  }
});

test("signs of an attack raise the risk and fail no try, unless the operator requires the detector", async () => {
  const scored = (attackScore: number | "unavailable") => async (): Promise<FaceJobResult> => ({
    ...(await at(0.3)()),
    ...{ attackScore },
  });
  const signsOf = (verdict: FaceVerdict) => (verdict.kind === "passed" ? verdict.riskInputs.signs : verdict);
  assert.deepEqual(signsOf(await verdictOn(at(0.3))), []);
  assert.deepEqual(signsOf(await verdictOn(scored(0.5))), []);
  assert.deepEqual(signsOf(await verdictOn(scored(0.51))), ["detector"]);
  assert.deepEqual(signsOf(await verdictOn(scored(Number.NaN))), ["detector_unavailable"]);
  assert.deepEqual(signsOf(await verdictOn(scored("unavailable"))), ["detector_unavailable"]);
  const required = { detector: "require" } as const;
  assert.equal((await verdictOn(scored(0.5), required)).kind, "passed");
  assert.deepEqual(await verdictOn(scored(0.51), required), {
    kind: "failed",
    code: "liveness_failed",
    reasons: ["attack_detected"],
  });
  assert.deepEqual(await verdictOn(scored("unavailable"), required), {
    kind: "fault",
    reason: "worker_error",
  });
});

test("the verdict weighs a risk from 0 to 0.7, and 0.2 more for a head that was not turned", () => {
  const best = {
    distance: 0,
    identitySpread: 0,
    colours: "followed",
    colourCorrelation: 1,
    colourReflection: 0.1,
    colourSurroundingShare: 0,
    framesPerSecond: 5,
    stillHead: false,
    signs: [],
  } as const;
  assert.equal(faceRisk(best), 0);
  const worst = faceRisk({ ...best, distance: 0.55, identitySpread: 0.5, colours: "not_followed" });
  assert.ok(Math.abs(worst - 0.7) < 1e-9);
  assert.equal(faceRisk({ ...best, stillHead: true }), 0.2);
  assert.equal(faceRisk({ ...best, signs: ["flat_thing"] }), 0.1);
  assert.equal(faceRisk({ ...best, signs: ["flat_thing", "screen_pattern", "colours_late"] }), 0.2);
  assert.equal(faceRisk({ ...best, signs: ["detector"] }), 0.3);
  assert.equal(faceRisk({ ...best, signs: ["detector_unavailable"] }), 0.1);
});
