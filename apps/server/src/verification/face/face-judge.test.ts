import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FaceMovement } from "@assay/contract/verify-protocol";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { type Challenge, newChallenge } from "@assay/face/challenge";
import { filmOfBentStill } from "../../../test/support/bent-still.ts";
import { type FilmOptions, filmFace } from "../../../test/support/film-face.ts";
import { until } from "../../../test/support/until.ts";
import { watchedMeasurer } from "../../../test/support/watched-measurer.ts";
import { createLog } from "../../platform/lib/log.ts";
import { Metrics } from "../../platform/lib/metrics.ts";
import { decodePicture } from "./decode-picture.ts";
import {
  createFaceJudge,
  type FaceJudge,
  type FaceVerdict,
  faceRisk,
  type JudgedFrame,
} from "./face-judge.ts";
import { FaceWorkerPool, type FaceWorkerPoolOptions } from "./face-worker-pool.ts";

/** The order is the one thing that is random outside tests. */
const challenge: Challenge = {
  movements: ["come_closer", "turn_left", "look_up", "turn_right"],
  colours: ["red", "green", "blue", "white", "blue", "red", "green", "white"],
  colourMs: 900,
  deadlineMs: 45_000,
};
const adult = readPortrait("adult.jpg");

const log = createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date(0) });
const logLines: string[] = [];
const metrics = new Metrics();
let pool: FaceWorkerPool;
let judge: FaceJudge;
let good: JudgedFrame[];
/** The verdict on the whole good film. Measuring a film takes a second of a core, so tests share it. */
let verdictOfGood: FaceVerdict;

before(async () => {
  const options: FaceWorkerPoolOptions = { log, jobTimeoutMs: 120_000, startTimeoutMs: 120_000 };
  pool = new FaceWorkerPool(options);
  judge = createFaceJudge({ log, metrics, measurer: pool });
  good = filmFace(challenge, { reflection: 0.05 });
  verdictOfGood = await judge.judge({ challenge, frames: good, portrait: adult, sandbox: false });
});
after(() => judge.close());

const judged = (options: FilmOptions, portrait = adult): Promise<FaceVerdict> =>
  judge.judge({ challenge, frames: filmFace(challenge, options), portrait, sandbox: false });

test("the face judge, with its real models, asks for something new each time", async () => {
  const asked = new Set<string>();
  for (let time = 0; time < 20; time++) {
    const challenge = await judge.begin({ sandbox: false, stillHead: false });
    asked.add(`${challenge?.movements} ${challenge?.colours}`);
  }
  assert.ok(asked.size > 15);
});

test("the face judge, with its real models, passes the person of the portrait who does what is asked, and sees the light of the screen", async () => {
  const verdict = verdictOfGood;
  assert.equal(verdict.kind, "passed", JSON.stringify(verdict));
  if (verdict.kind !== "passed") return;
  assert.ok(verdict.distance < 0.5);
  assert.deepEqual(verdict.checks, [
    ...["movements", "one_person", "portrait", "not_a_copy", "head_turned", "colours"],
  ]);
  assert.equal(verdict.riskInputs.colours, "followed");
  assert.ok(verdict.riskInputs.colourSurroundingShare < 0.8);
  // The drawn head comes closer by being enlarged, as a flat picture is; nothing else may be held against it.
  assert.deepEqual(
    verdict.riskInputs.signs.filter((sign) => sign !== "flat_thing"),
    [],
  );
  assert.ok(faceRisk(verdict.riskInputs) < 0.2);
});

test("the face judge, with its real models, says the same about frames that it looked at as they came, and has little left to do", async () => {
  const looks: number[] = [];
  const watched = watchedMeasurer(pool, ({ frames, seen }) =>
    looks.push(frames.length - (seen?.length ?? 0)),
  );
  const following = createFaceJudge({ log, metrics: new Metrics(), measurer: watched });
  const sitting = following.follow({ challenge, onFailed: ({ reasons }) => assert.fail(reasons.join()) });
  const whole = { challenge, frames: good, portrait: adult, sandbox: false, sitting };
  for (const frame of good.slice(0, -2)) sitting.add(frame);
  // The worker is free and gets one frame after another; the last two have only just arrived.
  await until("the frames were looked at", () => sitting.looked === good.length - 2);
  assert.deepEqual(await following.judge(whole), verdictOfGood);
  assert.deepEqual(looks, [2]);
});

test("the face judge, with its real models, passes a second person on their JPEG 2000 portrait, in daylight without measurable colours", async () => {
  const portrait = readPortrait("elder.jp2");
  const verdict = await judged({ person: "elder" }, portrait);
  assert.ok(verdict.kind === "passed", JSON.stringify(verdict));
  assert.equal(verdict.riskInputs.colours, "unmeasurable");
});

test("the face judge, with its real models, fails another person's portrait, here in JPEG 2000", async () => {
  const portrait = readPortrait("elder.jp2");
  assert.deepEqual(await judge.judge({ challenge, frames: good, portrait, sandbox: false }), {
    kind: "failed",
    code: "selfie_face_mismatch",
    reasons: ["match_too_far"],
  });
});

test("the face judge, with its real models, fails a print, held still or tilted by hand", async () => {
  assert.deepEqual(await judged({ print: "held_still" }), {
    kind: "failed",
    code: "liveness_failed",
    reasons: ["face_still"],
  });
  const tilted = await judged({ print: "tilted" });
  assert.ok(tilted.kind === "failed" && tilted.reasons.includes("movement_missing"), JSON.stringify(tilted));
});

test("the face judge, with its real models, fails the portrait that a program bends and tints as it is asked to", async () => {
  const still = await decodePicture(adult, { kinds: ["jpeg"], maxPixels: 1_000_000 });
  const face = { x: 75, y: 116, width: 149, height: 181 };
  // Blurred, as an attacker would to hide where the picture was bent.
  const frames = filmOfBentStill(still, face, challenge, {
    bend: { yaw: 40, pitch: 40, depth: 0.8 },
    random: () => 0.5,
    blur: 3,
  });
  const verdict = await judge.judge({ challenge, frames, portrait: adult, sandbox: false });
  assert.deepEqual(verdict, { kind: "failed", code: "liveness_failed", reasons: ["face_bent"] });
});

test("the face judge, with its real models, fails the right movements in another order", async () => {
  const movements: FaceMovement[] = ["turn_right", "come_closer", "turn_left", "look_up"];
  assert.deepEqual(await judged({ movements }), {
    kind: "failed",
    code: "liveness_failed",
    reasons: ["movement_wrong"],
  });
});

test("the face judge, with its real models, fails when a second person takes over, or stands beside", async () => {
  const swapped = await judged({ stranger: { person: "elder", from: 0.6 } });
  assert.ok(swapped.kind === "failed" && swapped.reasons.includes("face_changed"), JSON.stringify(swapped));
  const beside = await judged({ companion: "elder" });
  assert.ok(beside.kind === "failed" && beside.reasons.includes("several_faces"), JSON.stringify(beside));
});

test("the face judge, with its real models, judges times and unreadable pictures as the device's failure, an unusable portrait as a fault", async () => {
  const reasonsOf = async (frames: readonly JudgedFrame[]) => {
    const verdict = await judge.judge({ challenge, frames, portrait: adult, sandbox: false });
    return verdict.kind === "failed" ? verdict.reasons : [verdict.kind];
  };
  assert.deepEqual(await reasonsOf(good.slice(0, 5)), ["too_few_frames"]);
  assert.deepEqual(await reasonsOf([...good].reverse()), ["frame_times_invalid"]);
  const withJpeg = (jpeg: Uint8Array) =>
    good.map((frame, index) => (index === 0 ? { ...frame, jpeg } : frame));
  assert.deepEqual(await reasonsOf(withJpeg(new Uint8Array(100))), ["frame_unreadable"]);
  assert.deepEqual(
    await judge.judge({
      challenge,
      frames: good,
      portrait: new Uint8Array(10),
      sandbox: false,
    }),
    { kind: "fault", reason: "portrait_unusable" },
  );
});

test("a person who cannot turn the head passes by eyes, mouth and distance, at a higher risk", async () => {
  const still = newChallenge((below) => below - 1, { stillHead: true });
  assert.deepEqual(still.movements, ["come_closer", "open_mouth", "come_closer", "open_mouth"]);
  const asked = { ...still, movements: ["close_eyes", "come_closer", "open_mouth", "close_eyes"] as const };
  const film = (options: FilmOptions) =>
    judge.judge({ challenge: asked, frames: filmFace(asked, options), portrait: adult, sandbox: false });
  const passed = await film({});
  assert.equal(passed.kind, "passed", JSON.stringify(passed));
  if (passed.kind === "passed") assert.ok(passed.riskInputs.stillHead && passed.risk >= 0.2);
  const wrong = await film({ movements: ["open_mouth", "come_closer", "close_eyes", "open_mouth"] });
  assert.deepEqual(wrong, { kind: "failed", code: "liveness_failed", reasons: ["movement_wrong"] });
});

// Late, because the next try loads the models again.
test("the face judge, with its real models, calls it a fault when the worker is killed in the middle", async () => {
  const running = judge.judge({ challenge, frames: good, portrait: adult, sandbox: false });
  for (const pid of pool.processIds) process.kill(pid, "SIGKILL");
  assert.deepEqual(await running, { kind: "fault", reason: "worker_died" });
});

test("the face judge, with its real models, counts what it judged and logs nothing about people", () => {
  const counted = metrics.render();
  assert.match(counted, /assay_face_judgements_total\{outcome="passed"\} \d/);
  assert.match(counted, /assay_face_judgements_total\{outcome="selfie_face_mismatch"\} 1/);
  for (const line of logLines) assert.match(line, /"message":"a face worker ended"/);
});
