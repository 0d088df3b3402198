import assert from "node:assert/strict";
import { test } from "node:test";
import { isForStillHead } from "@assay/contract/verify-protocol";
import type { Challenge } from "@assay/face/challenge";
import { colourAt, screenLight } from "@assay/face/colour-schedule";
import { colourLimits } from "@assay/face/colour-signal";
import { livenessLimits } from "@assay/face/limits";
import { alice, performed } from "@assay/face/test/performed-movements";
import { createLog } from "../../platform/lib/log.ts";
import { Metrics } from "../../platform/lib/metrics.ts";
import type { FaceJob, FaceJobResult, FaceLookResult } from "./face-job.ts";
import {
  createFaceJudge,
  type FaceJudgeOptions,
  type FaceMeasurer,
  type FaceVerdict,
  faceRisk,
  type JudgeInput,
} from "./face-judge.ts";
import { FaceSitting } from "./face-sitting.ts";
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

const log = createLog({ level: "error", write: () => {}, now: () => new Date(0) });
const frames = measured.map(({ atMs, receivedAtMs }) => ({ atMs, receivedAtMs, jpeg: new Uint8Array(9) }));

async function verdictOn(
  answer: (job: FaceJob) => Promise<FaceJobResult>,
  options: Partial<FaceJudgeOptions> = {},
  input: Partial<JudgeInput> = {},
): Promise<FaceVerdict> {
  const judge = createFaceJudge({
    log,
    metrics: new Metrics(),
    measurer: { warmUp() {}, hasCapacity: () => true, run: answer, look: () => null, async close() {} },
    ...options,
  });
  return judge.judge({ challenge, frames, portrait: new Uint8Array(9), sandbox: false, ...input });
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
  const answer = async (): Promise<FaceJobResult> => ({
    kind: "measured",
    frames: lit,
    portraitEmbedding: portraitAt(0.3),
  });
  const seen = await verdictOn(answer, { colours: "require" });
  const stricter = { colours: "require", colourLimits: { ...colourLimits, followedFrom: 1.1 } } as const;
  const refused = await verdictOn(answer, stricter);
  assert.deepEqual(refused.kind === "failed" && refused.reasons, ["colours_not_followed"]);
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

const unasked = () => assert.fail("no worker is needed for this");

test("the verdict on times that cannot be right needs no worker", async () => {
  const failed = (reason: string) => ({ kind: "failed", code: "liveness_failed", reasons: [reason] });
  assert.deepEqual(await verdictOn(unasked, {}, { frames: frames.slice(0, 5) }), failed("too_few_frames"));
  const limits = { ...livenessLimits, minFrames: frames.length + 1 };
  assert.deepEqual(await verdictOn(unasked, { limits }), failed("too_few_frames"));
});

test("the verdict is the device's failure for an unreadable frame, and a fault for an unusable portrait", async () => {
  const unreadable = { kind: "failed", code: "liveness_failed", reasons: ["frame_unreadable"] };
  assert.deepEqual(await verdictOn(async () => ({ kind: "frame_unreadable" })), unreadable);
  assert.deepEqual(await verdictOn(async () => ({ kind: "portrait_unusable" })), {
    kind: "fault",
    reason: "portrait_unusable",
  });
  const sitting = (look: () => Promise<FaceLookResult>) => {
    const begun = new FaceSitting(look);
    for (const frame of frames) begun.add(frame);
    return { sitting: begun };
  };
  const broken = sitting(async () => ({ kind: "frame_unreadable" }));
  assert.deepEqual(await verdictOn(unasked, {}, broken), unreadable);
  const deadly = sitting(() => Promise.reject(new WorkerFault("worker_died")));
  assert.deepEqual(await verdictOn(unasked, {}, deadly), { kind: "fault", reason: "worker_died" });
});

test("the worker gets what was found while the frames came, and nothing if nobody looked", async () => {
  const jobs: FaceJob[] = [];
  const run = (job: FaceJob) => {
    jobs.push(job);
    return at(0.3)();
  };
  const seen = { kind: "seen", faces: 0, width: 1, height: 1, face: null, box: null, mayFollow: 0 } as const;
  const sitting = new FaceSitting(async () => seen);
  for (const frame of frames.slice(0, 1)) sitting.add(frame);
  await verdictOn(run, {}, { sitting });
  await verdictOn(run);
  assert.deepEqual(
    jobs.map(({ seen }) => seen),
    [[seen], []],
  );
  assert.deepEqual(
    jobs.map((job) => job.frames),
    [frames, frames],
  );
});

test("no try begins while too many wait, and the workers start when one does", () => {
  let [hasCapacity, warmUps] = [false, 0];
  const asked: boolean[] = [];
  const measurer: FaceMeasurer = {
    warmUp: () => void warmUps++,
    hasCapacity({ sandbox }) {
      asked.push(sandbox);
      return hasCapacity;
    },
    run: unasked,
    look: () => null,
    async close() {},
  };
  const judge = createFaceJudge({ log, metrics: new Metrics(), measurer });
  assert.equal(judge.begin({ sandbox: true, stillHead: false }), null);
  assert.equal(warmUps, 0);
  hasCapacity = true;
  const challenge = judge.begin({ sandbox: false, stillHead: true });
  assert.ok(challenge !== null && isForStillHead(challenge.movements));
  assert.equal(isForStillHead(judge.begin({ sandbox: false, stillHead: false })?.movements ?? []), false);
  assert.deepEqual([warmUps, asked], [2, [true, false, false]]);
});

test("every verdict is counted by its outcome, with its time", async () => {
  const answers = {
    passed: at(0.3),
    selfie_face_mismatch: at(0.7),
    liveness_failed: at(0.19),
    fault: () => Promise.reject(new WorkerFault("timed_out")),
  };
  for (const [outcome, answer] of Object.entries(answers)) {
    const metrics = new Metrics();
    const start = performance.now();
    await verdictOn(answer, { metrics });
    const counted = metrics.render();
    assert.match(counted, new RegExp(`assay_face_judgements_total\\{outcome="${outcome}"\\} 1$`, "m"));
    assert.match(counted, /assay_face_judgement_seconds_count 1$/m);
    assert.match(counted, /assay_face_judgement_seconds_bucket\{le="64"\} 1$/m);
    const [, seconds] = /assay_face_judgement_seconds_sum (\S+)/.exec(counted) ?? [];
    assert.ok(Number(seconds) > 0 && Number(seconds) <= (performance.now() - start) / 1000, `${seconds} s`);
  }
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
  assert.deepEqual(signsOf(await verdictOn(scored(0))), []);
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
  const near = (risk: number, expected: number) => assert.ok(Math.abs(risk - expected) < 1e-9, `${risk}`);
  near(faceRisk({ ...best, distance: 0.44 }), 0.15);
  near(faceRisk({ ...best, distance: 0.4 }, 0.5), 0.15);
  near(faceRisk({ ...best, identitySpread: 0.4 }), 0.05);
  near(faceRisk({ ...best, colours: "unmeasurable", signs: ["flat_thing", "detector"] }), 0.5);
  const all = ["flat_thing", "screen_pattern", "detector", "detector_unavailable"] as const;
  const everything = { distance: 9, identitySpread: 9, colours: "not_followed", stillHead: true } as const;
  assert.equal(faceRisk({ ...best, ...everything, signs: all }), 1);
  assert.equal(faceRisk({ ...best, stillHead: true }), 0.2);
  assert.equal(faceRisk({ ...best, signs: ["flat_thing"] }), 0.1);
  assert.equal(faceRisk({ ...best, signs: ["flat_thing", "screen_pattern", "colours_late"] }), 0.2);
  assert.equal(faceRisk({ ...best, signs: ["detector"] }), 0.3);
  assert.equal(faceRisk({ ...best, signs: ["detector_unavailable"] }), 0.1);
});

const unseen = { kind: "seen", faces: 0, width: 1, height: 1, face: null, box: null, mayFollow: 0 } as const;

/** Follows frames with these times, each of which is looked at like this. */
async function followed(times: readonly number[], look: () => Promise<FaceLookResult>) {
  const metrics = new Metrics();
  const measurer = { warmUp() {}, hasCapacity: () => true, run: unasked, look, async close() {} };
  const failures: (readonly string[])[] = [];
  const sitting = createFaceJudge({ log, metrics, measurer }).follow({
    challenge,
    onFailed: ({ reasons }) => failures.push(reasons),
  });
  for (const atMs of times) {
    sitting.add({ jpeg: new Uint8Array(10), atMs, receivedAtMs: atMs });
    // A look is answered, kept and reported before the next one.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { failures, looked: sitting.looked, counted: metrics.render() };
}

test("a try that cannot pass any more is reported once, and counted once", async () => {
  // Each of them comes before the one before it.
  const backwards = await followed([900, 600, 300, 200], async () => unseen);
  assert.equal(backwards.looked, 4);
  assert.deepEqual(backwards.failures, [["frame_times_invalid"]]);
  assert.match(backwards.counted, /assay_face_judgements_total\{outcome="liveness_failed"\} 1$/m);
  const unreadable = await followed([200, 400], async () => ({ kind: "frame_unreadable" }));
  assert.deepEqual(unreadable.failures, [["frame_unreadable"]]);
});

test("a try that may still pass is not reported, and neither is one that the service could not look at", async () => {
  const fine = await followed([200, 400, 600], async () => unseen);
  const fault = await followed([200], () => Promise.reject(new WorkerFault("worker_died")));
  for (const { failures, counted } of [fine, fault]) {
    assert.deepEqual(failures, []);
    assert.doesNotMatch(counted, /liveness_failed/);
  }
});

test("the verdict fails on movements that were not asked for", async () => {
  const movements = ["look_up", "turn_left", "turn_right", "come_closer"] as const;
  const verdict = await verdictOn(at(0.3), {}, { challenge: { ...challenge, movements } });
  assert.deepEqual(verdict, { kind: "failed", code: "liveness_failed", reasons: ["movement_wrong"] });
});

test("the workers learn which tries may wait, and are closed with the judge", async () => {
  const seen: unknown[] = [];
  const measurer: FaceMeasurer = {
    warmUp() {},
    hasCapacity: () => true,
    run: (_, who) => {
      seen.push(who);
      return at(0.3)();
    },
    look: () => null,
    async close() {
      seen.push("closed");
    },
  };
  const judge = createFaceJudge({ log, metrics: new Metrics(), measurer });
  await judge.judge({ challenge, frames, portrait: new Uint8Array(9), sandbox: true });
  await judge.close();
  assert.deepEqual(seen, [{ sandbox: true }, "closed"]);
});
