import assert from "node:assert/strict";
import { test } from "node:test";
import { turningMovements } from "@assay/contract/verify-protocol";
import fc from "fast-check";
import { performed } from "../test/performed-movements.ts";
import { challenges, people, randoms, withFace } from "../test/tries.ts";
import type { Challenge } from "./challenge.ts";
import { foreseeFailure } from "./foresee-failure.ts";
import { judgeMovements } from "./liveness.ts";
import type { FrameMeasurement } from "./measurement.ts";

/** After how many frames a failure is certain, and why; null where it never is. */
function foreseen(frames: readonly FrameMeasurement[], challenge: Challenge) {
  for (let count = 1; count <= frames.length; count++) {
    const reasons = foreseeFailure(frames.slice(0, count), challenge);
    if (reasons.length > 0) return { count, reasons };
  }
  return null;
}

test("a failure that is foreseen is one at the end, whatever the frames after it show", () => {
  const made = fc.array(fc.constantFrom(...turningMovements), { minLength: 1, maxLength: 5 });
  const paces = fc.constantFrom(150, 250, 400, 750);
  const spoilt = fc.constantFrom<(frame: FrameMeasurement, index: number) => FrameMeasurement>(
    (frame) => frame,
    (frame, index) => (index % 5 === 3 ? { ...frame, face: null } : frame),
    (frame, index) => (index > 12 && index < 17 ? { ...frame, face: null } : frame),
    (frame, index) => (index % 2 === 1 ? { ...frame, faces: 2 } : frame),
    (frame, index) => withFace(frame, ({ box }) => ({ box: { ...box, x: box.x + (index > 9 ? 150 : 0) } })),
    (frame, index) => (index === 11 ? { ...frame, receivedAtMs: frame.receivedAtMs + 9_000 } : frame),
  );
  let certain = 0;
  fc.assert(
    fc.property(challenges, made, paces, spoilt, people, randoms, (challenge, does, pace, spoil, ...who) => {
      const frames = performed(does, ...who, pace).map(spoil);
      if (foreseen(frames, challenge) === null) return;
      certain++;
      assert.equal(judgeMovements(frames, challenge).ok, false);
    }),
    { numRuns: 300 },
  );
  assert.ok(certain > 50, `${certain} were foreseen`);
});

test("nobody who passes is foreseen to fail", () => {
  fc.assert(
    fc.property(challenges, people, randoms, (challenge, person, random) => {
      assert.equal(foreseen(performed(challenge.movements, person, random), challenge), null);
    }),
    { numRuns: 100 },
  );
});

const challenge: Challenge = {
  movements: ["turn_left", "look_up", "turn_right", "come_closer"],
  colours: ["red", "green", "blue", "white", "blue", "red", "green", "white"],
  colourMs: 900,
  deadlineMs: 45_000,
};
const calm = { yaw: 0, pitch: 0, size: 180, tremble: 0 };
const film = (movements: Challenge["movements"]) => performed(movements, calm, () => 0.5);

test("a wrong movement is seen when it is made, a missing one when its time is over", () => {
  const wrong = foreseen(film(["turn_right", "look_up", "turn_left", "come_closer"]), challenge);
  assert.deepEqual(wrong, { count: 7, reasons: ["movement_wrong"] });
  const [first] = film([]);
  assert.ok(first !== undefined);
  const still = Array.from({ length: 40 }, (_, index) => ({
    ...first,
    atMs: index * 300,
    receivedAtMs: index * 300,
  }));
  // 8 seconds are over after the frame of 8.1 seconds.
  assert.deepEqual(foreseen(still, challenge), { count: 28, reasons: ["face_still"] });
  const begun = film(["turn_left"]);
  const slow = [
    ...begun,
    ...still.map((frame) => ({ ...frame, atMs: frame.atMs + 2_500, receivedAtMs: frame.atMs + 2_900 })),
  ];
  assert.deepEqual(foreseen(slow, challenge)?.reasons, ["movement_too_slow"]);
});

test("a face that is away, or a second one, is certain only after more frames than any try may have too many of", () => {
  const frames = film(challenge.movements);
  const away = foreseen(
    [...frames.slice(0, 4), ...frames.slice(4).map((frame) => ({ ...frame, face: null }))],
    challenge,
  );
  assert.deepEqual(away, { count: 16, reasons: ["no_face"] });
  const beside = foreseen(
    frames.map((frame) => ({ ...frame, faces: 2 })),
    challenge,
  );
  assert.deepEqual(beside, { count: 12, reasons: ["several_faces"] });
});
