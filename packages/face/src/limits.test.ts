import assert from "node:assert/strict";
import test from "node:test";
import { bob, performed } from "../test/performed-movements.ts";
import { withFace } from "../test/tries.ts";
import { type Challenge, newChallenge } from "./challenge.ts";
import { picksForEmbedding } from "./identity.ts";
import { type CutLimits, type LivenessLimits, livenessLimits } from "./limits.ts";
import { judgeMovements, type LivenessReason } from "./liveness.ts";
import type { FrameMeasurement } from "./measurement.ts";

// Tests each number of `limits.ts` at half and twice, where that changes anything with simulated people.

const challenge: Challenge = {
  ...newChallenge((below) => below - 1),
  movements: ["turn_left", "look_up", "turn_right", "come_closer"],
};
const person = { yaw: 0, pitch: 0, size: 180, tremble: 0 };

function film(frameMs = 225, who = person): FrameMeasurement[] {
  return performed(challenge.movements, who, () => 0.5, frameMs);
}

/** With this many frames of looking straight ahead after the first movement. */
function slowFilm(pauseFrames: number): FrameMeasurement[] {
  const frames = film().flatMap((frame, index) =>
    index === 10 ? Array.from({ length: pauseFrames }, () => frame) : [frame],
  );
  return frames.map((frame, index) => ({
    ...frame,
    atMs: (index + 1) * 225,
    receivedAtMs: (index + 1) * 225 + 400,
  }));
}

const at = (frames: FrameMeasurement[], indexes: readonly number[], change: Parameters<typeof withFace>[1]) =>
  frames.map((frame, index) => (indexes.includes(index) ? withFace(frame, change) : frame));
const from = (frames: FrameMeasurement[], first: number, change: Parameters<typeof withFace>[1]) =>
  frames.map((frame, index) => (index < first ? frame : withFace(frame, change)));
const without = (frames: FrameMeasurement[], indexes: readonly number[]) =>
  frames.map((frame, index) => (indexes.includes(index) ? { ...frame, faces: 0, face: null } : frame));
const lit = (by: number): Parameters<typeof withFace>[1] => {
  return () => ({ surroundingLight: [0.3 * by, 0.3 * by, 0.3 * by] });
};
const late = (frames: FrameMeasurement[], byMs: number) =>
  frames.map((frame, index) => ({ ...frame, receivedAtMs: frame.atMs + (index === 10 ? byMs : 0) }));

function reasonsOf(frames: readonly FrameMeasurement[], limits: LivenessLimits): readonly LivenessReason[] {
  const judged = judgeMovements(frames, challenge, limits);
  return judged.ok ? [] : judged.reasons;
}

type Case = {
  readonly limit: string;
  readonly changed: Partial<LivenessLimits>;
  readonly what: string;
  readonly frames: FrameMeasurement[];
  /** Null when it passes. */
  readonly today: LivenessReason | null;
  readonly otherwise: LivenessReason | null;
};

const cut = (changed: Partial<CutLimits>) => ({ cut: { ...livenessLimits.cut, ...changed } });
const half = (limit: keyof LivenessLimits) => ({ [limit]: Number(livenessLimits[limit]) / 2 });
const twice = (limit: keyof LivenessLimits) => ({ [limit]: Number(livenessLimits[limit]) * 2 });
const heldAtTheThreshold = (() => {
  const frames = film();
  const left = frames[6];
  assert.ok(left !== undefined);
  const wavering = [17, 17, 13, 17, 17, 13, 17].map((yaw) => withFace(left, () => ({ yaw })));
  return [...frames.slice(0, 6), ...wavering, ...frames.slice(7)].map((frame, index) => ({
    ...frame,
    atMs: (index + 1) * 225,
    receivedAtMs: (index + 1) * 225 + 400,
  }));
})();
const standIn = (frames: FrameMeasurement[]) =>
  at(frames, picksForEmbedding(frames).turned.slice(0, 1), () => ({ embedding: bob }));
const replaced = (() => {
  // Only the last straight looks show another person, so that the turned ones do not reveal it.
  const frames = film();
  return at(frames, picksForEmbedding(frames).frontal.slice(3), () => ({ embedding: bob }));
})();

const cases: readonly Case[] = [
  {
    limit: "twice the minFrames",
    changed: twice("minFrames"),
    what: "somebody quick",
    frames: film(),
    today: null,
    otherwise: "too_few_frames",
  },
  {
    limit: "half the minFramesPerSecond",
    changed: half("minFramesPerSecond"),
    what: "2.2 frames a second",
    frames: film(450),
    today: "frame_rate_too_low",
    otherwise: null,
  },
  {
    limit: "twice the minFramesPerSecond",
    changed: twice("minFramesPerSecond"),
    what: "the page's own pace",
    frames: film(240),
    today: null,
    otherwise: "frame_rate_too_low",
  },
  {
    limit: "half the maxGapMs",
    changed: half("maxGapMs"),
    what: "one lost frame at the page's slowest pace",
    frames: film(300).filter((_, index) => index !== 9),
    today: null,
    otherwise: "frame_rate_too_low",
  },
  {
    limit: "twice the maxGapMs",
    changed: twice("maxGapMs"),
    what: "a face that is away for 0.9 seconds",
    frames: without(film(), [30, 31, 32]),
    today: "frame_rate_too_low",
    otherwise: null,
  },
  {
    limit: "half the maxStepMs",
    changed: half("maxStepMs"),
    what: "five seconds to a movement",
    frames: slowFilm(16),
    today: null,
    otherwise: "movement_too_slow",
  },
  {
    limit: "twice the maxStepMs",
    changed: twice("maxStepMs"),
    what: "twelve seconds to a movement",
    frames: slowFilm(48),
    today: "movement_too_slow",
    otherwise: null,
  },
  {
    limit: "half the maxArrivalSpreadMs",
    changed: half("maxArrivalSpreadMs"),
    what: "a connection that stalls for three seconds",
    frames: late(film(), 3_000),
    today: null,
    otherwise: "frames_not_fresh",
  },
  {
    limit: "twice the maxArrivalSpreadMs",
    changed: twice("maxArrivalSpreadMs"),
    what: "a frame nine seconds late",
    frames: late(film(), 9_000),
    today: "frames_not_fresh",
    otherwise: null,
  },
  {
    limit: "half the maxBadFrameShare",
    changed: half("maxBadFrameShare"),
    what: "two frames in which the face is not found",
    frames: without(film(), [6, 20]),
    today: null,
    otherwise: "no_face",
  },
  {
    limit: "twice the maxBadFrameShare",
    changed: twice("maxBadFrameShare"),
    what: "a second face in every seventh frame",
    frames: film().map((frame, index) => (index % 7 === 0 ? { ...frame, faces: 2 } : frame)),
    today: "several_faces",
    otherwise: null,
  },
  {
    limit: "half the minFaceHeightPixels",
    changed: half("minFaceHeightPixels"),
    what: "a face of 40 pixels",
    frames: film(225, { ...person, size: 40 }),
    today: "face_too_small",
    otherwise: null,
  },
  {
    limit: "twice the minFaceHeightPixels",
    changed: twice("minFaceHeightPixels"),
    what: "a face of 100 pixels",
    frames: film(225, { ...person, size: 100 }),
    today: null,
    otherwise: "face_too_small",
  },
  {
    limit: "half the maxStartYaw",
    changed: half("maxStartYaw"),
    what: "a head held 8° aside",
    frames: film(225, { ...person, yaw: 8 }),
    today: null,
    otherwise: "not_frontal_at_start",
  },
  {
    limit: "twice the maxStartYaw",
    changed: twice("maxStartYaw"),
    what: "a head turned by 25° from the start",
    frames: film(225, { ...person, yaw: 25 }),
    today: "not_frontal_at_start",
    otherwise: null,
  },
  {
    limit: "twice the turnDegrees",
    changed: twice("turnDegrees"),
    what: "a turn of 26°",
    frames: film(),
    today: null,
    otherwise: "movement_wrong",
  },
  {
    limit: "twice the lookUpDegrees",
    changed: twice("lookUpDegrees"),
    what: "a look up by 17°",
    frames: film(),
    today: null,
    otherwise: "movement_wrong",
  },
  {
    limit: "twice the closerRatio",
    changed: { closerRatio: 1.5 },
    what: "coming closer by 1.45",
    frames: film(),
    today: null,
    otherwise: "movement_missing",
  },
  {
    limit: "twice the backToCentreShare",
    changed: twice("backToCentreShare"),
    what: "a head that wavers at the threshold",
    frames: heldAtTheThreshold,
    today: null,
    otherwise: "movement_wrong",
  },
  {
    limit: "half the framesToCount",
    changed: half("framesToCount"),
    what: "one frame measured wrongly",
    frames: at(film(), [2], ({ pitch }) => ({ pitch: pitch + 20 })),
    today: null,
    otherwise: "movement_wrong",
  },
  {
    limit: "twice the framesToCount",
    changed: twice("framesToCount"),
    what: "movements held for three frames",
    frames: film(),
    today: null,
    otherwise: "movement_missing",
  },
  {
    limit: "half the startFrames",
    changed: { startFrames: 1 },
    what: "a first frame measured wrongly",
    frames: at(film(), [0], ({ yaw }) => ({ yaw: yaw + 14 })),
    today: null,
    otherwise: "movement_wrong",
  },
  ...(["growth", "growthPerSecond"] as const).flatMap((limit): Case[] => [
    {
      limit: `half the cut.${limit}`,
      changed: cut({ [limit]: livenessLimits.cut[limit] / 2 }),
      what: "somebody who comes closer quickly",
      frames: film(150),
      today: null,
      otherwise: "cut",
    },
    {
      limit: `twice the cut.${limit}`,
      changed: cut({ [limit]: livenessLimits.cut[limit] * 2 }),
      what: "a jump to 1.45 times the size within the last movement",
      frames: jumpedCloser(),
      today: "cut",
      otherwise: null,
    },
  ]),
  ...(["shift", "shiftPerSecond"] as const).map(
    (limit): Case => ({
      limit: `twice the cut.${limit}`,
      changed: cut({ [limit]: livenessLimits.cut[limit] * 2 }),
      what: "a face that jumps by half its height",
      frames: from(film(150), 16, ({ box }) => ({ box: { ...box, x: box.x + 90 } })),
      today: "cut",
      otherwise: null,
    }),
  ),
  ...(["degrees", "degreesPerSecond"] as const).map(
    (limit): Case => ({
      limit: `twice the cut.${limit}`,
      changed: cut({ [limit]: livenessLimits.cut[limit] * 2 }),
      what: "a head that jumps by 60° of tilt",
      frames: from(film(), 16, () => ({ roll: 60 })),
      today: "cut",
      otherwise: null,
    }),
  ),
  {
    limit: "half the cut.light",
    changed: cut({ light: livenessLimits.cut.light / 2 }),
    what: "a lamp that doubles the light",
    frames: from(film(), 16, lit(2)),
    today: null,
    otherwise: "cut",
  },
  {
    limit: "twice the cut.light",
    changed: cut({ light: livenessLimits.cut.light * 2 }),
    what: "a room that is suddenly a third as bright",
    frames: from(film(), 16, lit(1 / 3)),
    today: "cut",
    otherwise: null,
  },
  {
    limit: "twice the samePersonFrontal",
    changed: twice("samePersonFrontal"),
    what: "a stranger in the last straight look",
    frames: replaced,
    today: "face_changed",
    otherwise: null,
  },
  {
    limit: "twice the samePersonTurned",
    changed: twice("samePersonTurned"),
    what: "a stranger while the head is turned",
    frames: standIn(film()),
    today: "face_changed",
    otherwise: null,
  },
];

function jumpedCloser(): FrameMeasurement[] {
  // The way closer is cut out: from straight ahead to the nearest look within one frame.
  return film().map((frame, index) =>
    index === 25
      ? withFace(frame, () => ({ size: 180, box: { x: 210, y: 130, width: 180, height: 180 } }))
      : frame,
  );
}

for (const { limit, changed, what, frames, today, otherwise } of cases) {
  const told = (reason: LivenessReason | null) => (reason === null ? "passes" : `fails as ${reason}`);
  test(`${what} ${told(today)}; with ${limit}, it ${told(otherwise)}`, () => {
    const holds = (limits: LivenessLimits, expected: LivenessReason | null) => {
      const reasons = reasonsOf(frames, limits);
      if (expected === null) assert.deepEqual(reasons, []);
      else assert.ok(reasons.includes(expected), reasons.join() || "passes");
    };
    holds(livenessLimits, today);
    holds({ ...livenessLimits, ...changed }, otherwise);
  });
}
