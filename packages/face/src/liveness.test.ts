import assert from "node:assert/strict";
import { test } from "node:test";
import { type FaceMovement, stillHeadMovements, turningMovements } from "@assay/contract/verify-protocol";
import fc from "fast-check";
import { bob, performed } from "../test/performed-movements.ts";
import { challenges, people, randoms, withFace } from "../test/tries.ts";
import { type Challenge, newChallenge } from "./challenge.ts";
import { picksForEmbedding } from "./identity.ts";
import { livenessLimits } from "./limits.ts";
import { judgeMovements, type LivenessReason } from "./liveness.ts";
import type { FaceMeasurement, FrameMeasurement } from "./measurement.ts";

function reasonsOf(frames: readonly FrameMeasurement[], challenge: Challenge): readonly LivenessReason[] {
  const judged = judgeMovements(frames, challenge);
  return judged.ok ? [] : judged.reasons;
}

/** Each case takes a passing try and spoils it in one way. */
function spoilt(
  expected: LivenessReason,
  spoil: (frames: FrameMeasurement[], challenge: Challenge, random: () => number) => FrameMeasurement[],
): void {
  fc.assert(
    fc.property(challenges, people, randoms, (challenge, person, random) => {
      const frames = spoil(performed(challenge.movements, person, random), challenge, random);
      const reasons = reasonsOf(frames, challenge);
      assert.ok(reasons.includes(expected), `expected ${expected}, got ${reasons.join(", ") || "a pass"}`);
    }),
    { numRuns: 60 },
  );
}

test("movements pass when they are made as asked, whoever makes them", () => {
  fc.assert(
    fc.property(challenges, people, randoms, (challenge, person, random) => {
      const judged = judgeMovements(performed(challenge.movements, person, random), challenge);
      assert.ok(judged.ok, judged.ok ? "" : judged.reasons.join(", "));
      assert.ok(judged.frontal.length >= 2);
    }),
    { numRuns: 200 },
  );
});

test("movements fail in every other order, with one left out, and with one too many", () => {
  fc.assert(
    fc.property(
      challenges,
      fc.array(fc.constantFrom(...turningMovements), { minLength: 1, maxLength: 6 }),
      people,
      randoms,
      (challenge, made, person, random) => {
        fc.pre(made.join() !== challenge.movements.join());
        const reasons = reasonsOf(performed(made, person, random), challenge);
        const isStart = made.every((movement, index) => movement === challenge.movements[index]);
        if (isStart && made.length < challenge.movements.length)
          assert.ok(
            reasons.includes("movement_missing") || reasons.includes("too_few_frames"),
            reasons.join(),
          );
        else
          assert.ok(reasons.includes("movement_wrong") || reasons.includes("too_few_frames"), reasons.join());
      },
    ),
    { numRuns: 200 },
  );
});

test("movements fail when the head does not come back at the end", () =>
  spoilt("movement_missing", (frames, challenge) => {
    const last = challenge.movements.at(-1);
    // Cuts off the return of the last movement: 2 straight looks and the end are dropped.
    assert.ok(last !== undefined);
    return frames.slice(0, -6);
  }));

test("movements fail for a still photograph", () =>
  spoilt("face_still", (_, challenge, random) =>
    performed(challenge.movements, { yaw: 0, pitch: 0, size: 180, tremble: 1 }, random).map((frame) =>
      withFace(frame, () => ({
        yaw: random(),
        pitch: random(),
        size: 180 + random(),
        box: { x: 200, y: 120, width: 180, height: 180 },
      })),
    ),
  ));

test("movements fail when the head jumps, the picture shifts, or the room changes its light", () => {
  const middle = (frames: readonly FrameMeasurement[]) => Math.floor(frames.length / 2);
  const from = (change: (face: FaceMeasurement) => Partial<FaceMeasurement>) =>
    spoilt("cut", (frames) =>
      frames.map((frame, index) => (index < middle(frames) ? frame : withFace(frame, change))),
    );
  from((face) => ({ yaw: face.yaw + 70 }));
  from((face) => ({ box: { ...face.box, x: face.box.x + 250 } }));
  from((face) => ({ size: face.size * 2.1 }));
  for (const light of [0.02, 0.98]) from(() => ({ surroundingLight: [light, light, light] }));
  spoilt("cut", (frames) =>
    frames.map((frame, index) => (index < middle(frames) ? frame : { ...frame, width: 720 })),
  );
});

test("movements fail when another person takes over", () =>
  spoilt("face_changed", (frames) =>
    frames.map((frame, index) =>
      index < frames.length * 0.7 ? frame : withFace(frame, () => ({ embedding: bob })),
    ),
  ));

test("movements fail when another person steps in only while the head is turned", () =>
  spoilt("face_changed", (frames) => {
    const { turned } = picksForEmbedding(frames);
    return frames.map((frame, index) =>
      index === turned[0] ? withFace(frame, () => ({ embedding: bob })) : frame,
    );
  }));

test("movements fail without embeddings, whatever else is right", () =>
  spoilt("face_changed", (frames) =>
    frames.map((frame) => {
      if (frame.face === null) return frame;
      const { embedding: _, ...face } = frame.face;
      return { ...frame, face };
    }),
  ));

test("movements fail with a second face beside", () =>
  spoilt("several_faces", (frames) => frames.map((frame) => ({ ...frame, faces: 2 }))));

test("movements fail when the face is away too often or too long", () => {
  spoilt("no_face", (frames) =>
    frames.map((frame, index) => (index % 4 === 1 ? { ...frame, faces: 0, face: null } : frame)),
  );
  fc.assert(
    fc.property(challenges, people, randoms, (challenge, person, random) => {
      const frames = performed(challenge.movements, person, random, 220);
      const gone = frames.map((frame, index) =>
        index >= 5 && index < 8 ? { ...frame, faces: 0, face: null } : frame,
      );
      assert.deepEqual(reasonsOf(frames, challenge), []);
      assert.ok(reasonsOf(gone, challenge).includes("frame_rate_too_low"));
    }),
    { numRuns: 30 },
  );
});

test("movements fail with too few frames, too far apart, at impossible times, too late or not sent as they were taken", () => {
  spoilt("too_few_frames", (frames) => frames.slice(0, livenessLimits.minFrames - 1));
  spoilt("frame_rate_too_low", (frames) =>
    frames.map((frame) => ({
      ...frame,
      atMs: frame.atMs * 3,
      receivedAtMs: frame.atMs * 3 + 400,
    })),
  );
  spoilt("frame_times_invalid", (frames) => [...frames].reverse());
  spoilt("frame_times_invalid", (frames) => frames.map((frame) => ({ ...frame, atMs: Number.NaN })));
  spoilt("frame_times_invalid", (frames) => frames.map((frame) => ({ ...frame, receivedAtMs: 0 })));
  spoilt("frames_not_fresh", (frames) =>
    frames.map((frame, index) => ({
      ...frame,
      receivedAtMs: index === 0 ? frame.atMs + 9_000 : frame.atMs + 400,
    })),
  );
  spoilt("deadline_passed", (frames, { deadlineMs }) =>
    frames.map((frame) => ({ ...frame, receivedAtMs: frame.atMs + deadlineMs })),
  );
});

test("movements fail for a face too small to tell, or not straight at the start", () => {
  spoilt("face_too_small", (frames) => frames.map((frame) => withFace(frame, () => ({ size: 30 }))));
  spoilt("not_frontal_at_start", (frames) =>
    frames.map((frame) => withFace(frame, ({ yaw }) => ({ yaw: yaw + 30 }))),
  );
});

test("movements are not made by looks that could not be measured", () => {
  const challenge: Challenge = {
    ...newChallenge((below) => below - 1),
    movements: ["turn_left", "turn_right", "look_up", "come_closer"],
  };
  const still = performed(challenge.movements, { yaw: 0, pitch: 0, size: 180, tremble: 0 }, () => 0.5).map(
    (frame) => withFace(frame, ({ yaw }) => (yaw < 0 ? { yaw: Number.NaN } : {})),
  );
  assert.deepEqual(reasonsOf(still, challenge), ["movement_wrong"]);
});

test("movements never throw and never pass on measurements that are not numbers", () => {
  const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
  fc.assert(
    fc.property(challenges, people, randoms, odd, (challenge, person, random, value) => {
      const frames = performed(challenge.movements, person, random).map((frame) =>
        withFace(frame, () => ({ yaw: value })),
      );
      assert.equal(judgeMovements(frames, challenge).ok, false);
    }),
    { numRuns: 30 },
  );
});

test("for a head that stays still eyes, mouth and distance are judged in their order, and turns and blinks are not", () => {
  fc.assert(
    fc.property(
      challenges,
      fc.shuffledSubarray([...stillHeadMovements], { minLength: 3 }),
      people,
      randoms,
      (drawn, movements: readonly FaceMovement[], person, random) => {
        const challenge = { ...drawn, movements };
        const frames = performed(movements, person, random);
        assert.ok(judgeMovements(frames, challenge).ok);
        const blinks = frames.map((frame, index) =>
          index === 3 || index === 4 ? withFace(frame, () => ({ eyes: 0.05 })) : frame,
        );
        assert.ok(judgeMovements(blinks, challenge).ok, "a blink of two frames counted as a movement");
        const other = judgeMovements(performed([...movements].reverse(), person, random), challenge);
        assert.ok(!other.ok);
      },
    ),
  );
});
