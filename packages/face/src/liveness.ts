import { type FaceMovement, isForStillHead } from "@assay/contract/verify-protocol";
import type { Challenge } from "./challenge.ts";
import { judgeIdentity } from "./identity.ts";
import { type LivenessLimits, livenessLimits } from "./limits.ts";
import type { FaceMeasurement, FrameMeasurement } from "./measurement.ts";
import { median } from "./median.ts";
import { type Centre, centreOf, movementOf } from "./movement.ts";

export type LivenessReason =
  /** Not enough frames to judge. */
  | "too_few_frames"
  /** Frames are too far apart: what happened between them is unknown. */
  | "frame_rate_too_low"
  /** Times that do not grow, or that lie before the challenge. */
  | "frame_times_invalid"
  /** The frames did not arrive as they were taken. */
  | "frames_not_fresh"
  | "deadline_passed"
  | "no_face"
  | "several_faces"
  | "face_too_small"
  | "not_frontal_at_start"
  /** The head or the picture jumped. */
  | "cut"
  /** Nothing moved: a still photograph, or the person ignored the instructions. */
  | "face_still"
  | "movement_missing"
  /** Another movement than the requested one, or one too many. */
  | "movement_wrong"
  | "movement_too_slow"
  | "face_changed"
  | "colours_not_followed";

type MovementsPassed = {
  readonly ok: true;
  /** Embeddings of frames that look straight ahead, for the match. */
  readonly frontal: readonly (readonly number[])[];
  /** The largest distance between the faces of two straight frames. */
  readonly identitySpread: number;
  readonly framesPerSecond: number;
};

type MovementsFailed = {
  readonly ok: false;
  readonly reasons: readonly LivenessReason[];
};

type FaceFrame = {
  readonly atMs: number;
  readonly face: FaceMeasurement;
};

/**
 * Whether the frames show one apparently living person who
 * made the movements in order and in time, without a cut.
 */
export function judgeMovements(
  frames: readonly FrameMeasurement[],
  challenge: Challenge,
  limits: LivenessLimits = livenessLimits,
): MovementsPassed | MovementsFailed {
  const timing = judgeTiming(frames, challenge, limits);
  // Without trustworthy times the checks below are meaningless.
  if (timing.length > 0) return { ok: false, reasons: timing };

  const counted = frames.flatMap((frame): FaceFrame[] =>
    frame.face === null ? [] : [{ atMs: frame.atMs, face: frame.face }],
  );
  const bad = frames.length * limits.maxBadFrameShare;
  if (frames.length - counted.length > bad) return { ok: false, reasons: ["no_face"] };

  const reasons = new Set<LivenessReason>();
  if (frames.filter((frame) => frame.faces > 1).length > bad) reasons.add("several_faces");
  if (median(counted.map(({ face }) => face.size)) < limits.minFaceHeightPixels)
    reasons.add("face_too_small");
  // A face that hides for a moment leaves a gap like a frame that was never sent.
  if (longestGap(counted.map(({ atMs }) => atMs)) > limits.maxGapMs) reasons.add("frame_rate_too_low");
  if (hasCut(frames, limits)) reasons.add("cut");

  const centre = centreOf(
    counted.map(({ face }) => face),
    limits,
  );
  if (centre === null || Math.abs(centre.yaw) > limits.maxStartYaw) reasons.add("not_frontal_at_start");
  else for (const reason of judgeOrder(counted, centre, challenge, limits)) reasons.add(reason);

  const identity = judgeIdentity(frames, limits);
  if (!identity.same) reasons.add("face_changed");
  if (reasons.size > 0) return { ok: false, reasons: [...reasons] };
  return {
    ok: true,
    frontal: identity.frontal,
    identitySpread: identity.spread,
    framesPerSecond: framesPerSecond(frames),
  };
}

type FrameTime = Pick<FrameMeasurement, "atMs" | "receivedAtMs">;

function framesPerSecond(frames: readonly FrameTime[]): number {
  const span = (frames.at(-1)?.atMs ?? 0) - (frames[0]?.atMs ?? 0);
  return span <= 0 ? 0 : ((frames.length - 1) * 1000) / span;
}

export function longestGap(times: readonly number[]): number {
  let longest = 0;
  for (let index = 1; index < times.length; index++)
    longest = Math.max(longest, (times[index] ?? 0) - (times[index - 1] ?? 0));
  return longest;
}

/** Reasons from the times alone, before anything is measured. */
export function judgeTiming(
  frames: readonly FrameTime[],
  challenge: Challenge,
  limits: LivenessLimits,
): LivenessReason[] {
  if (frames.length < limits.minFrames) return ["too_few_frames"];
  const reasons = judgeTimesSoFar(frames, challenge, limits);
  if (reasons.includes("frame_times_invalid") || reasons.includes("frame_rate_too_low")) return reasons;
  return framesPerSecond(frames) < limits.minFramesPerSecond ? [...reasons, "frame_rate_too_low"] : reasons;
}

/** Reasons from the first frames' times that no later frame can undo. */
export function judgeTimesSoFar(
  frames: readonly FrameTime[],
  challenge: Challenge,
  limits: LivenessLimits,
): LivenessReason[] {
  const times = frames.map((frame) => frame.atMs);
  const grows = times.every((at, index) => index === 0 || at > (times[index - 1] ?? 0));
  const finite = frames.every(
    (frame) => Number.isFinite(frame.atMs) && frame.atMs >= 0 && Number.isFinite(frame.receivedAtMs),
  );
  // A frame cannot arrive before it was taken, and taking began after the challenge was given out.
  if (!finite || !grows || frames.some((frame) => frame.receivedAtMs < frame.atMs))
    return ["frame_times_invalid"];
  const reasons: LivenessReason[] = [];
  const delays = frames.map((frame) => frame.receivedAtMs - frame.atMs);
  if (Math.max(...delays) - Math.min(...delays) > limits.maxArrivalSpreadMs) reasons.push("frames_not_fresh");
  if (Math.max(...frames.map((frame) => frame.receivedAtMs)) > challenge.deadlineMs)
    reasons.push("deadline_passed");
  if (longestGap(times) > limits.maxGapMs) reasons.push("frame_rate_too_low");
  return reasons;
}

type Done = {
  readonly movement: FaceMovement;
  readonly atMs: number;
};

/** The movements in order. A value must hold for a few frames, so that one wrong measurement makes none. */
function movementsIn(
  frames: readonly FaceFrame[],
  centre: Centre,
  limits: LivenessLimits,
  stillHead: boolean,
): { readonly done: readonly Done[]; readonly backAtCentre: boolean; readonly greatest: number } {
  const done: Done[] = [];
  let current: FaceMovement | null = null;
  let candidate: FaceMovement | null = null;
  let seen = 0;
  let greatest = 0;
  for (const { atMs, face } of frames) {
    const { movement, share } = movementOf(face, centre, { limits, stillHead });
    greatest = Math.max(greatest, share);
    // Asked this way round, a share that is not a number is no movement.
    if (!(share >= 1)) {
      candidate = null;
      seen = 0;
      if (share < limits.backToCentreShare) current = null;
      continue;
    }
    seen = movement === candidate ? seen + 1 : 1;
    candidate = movement;
    const needed = movement === "close_eyes" ? limits.closedEyesFrames : limits.framesToCount;
    if (movement !== current && seen >= needed) {
      done.push({ movement, atMs });
      current = movement;
    }
  }
  return { done, backAtCentre: current === null, greatest };
}

/** Exactly these and no other: a recording that makes every movement in every order must not pass. */
function hasWrong(done: readonly Done[], challenge: Challenge): boolean {
  return done.some(({ movement }, index) => movement !== challenge.movements[index]);
}

function judgeOrder(
  frames: readonly FaceFrame[],
  centre: Centre,
  challenge: Challenge,
  limits: LivenessLimits,
): LivenessReason[] {
  const { done, backAtCentre, greatest } = movementsIn(
    frames,
    centre,
    limits,
    isForStillHead(challenge.movements),
  );
  if (done.length === 0 && greatest < limits.backToCentreShare) return ["face_still"];
  const reasons: LivenessReason[] = [];
  if (hasWrong(done, challenge)) reasons.push("movement_wrong");
  else if (done.length < challenge.movements.length || !backAtCentre) reasons.push("movement_missing");
  const stops = [frames[0]?.atMs ?? 0, ...done.map(({ atMs }) => atMs)];
  if (longestGap(stops) > limits.maxStepMs) reasons.push("movement_too_slow");
  return reasons;
}

/** The errors of order that no later frame can undo: a wrong movement, or one that was too slow. */
export function orderSoFar(
  frames: readonly FaceFrame[],
  centre: Centre,
  challenge: Challenge,
  limits: LivenessLimits,
): LivenessReason[] {
  const stillHead = isForStillHead(challenge.movements);
  const { done, greatest } = movementsIn(frames, centre, limits, stillHead);
  if (hasWrong(done, challenge)) return ["movement_wrong"];
  const made = [frames[0]?.atMs ?? 0, ...done.map(({ atMs }) => atMs)];
  // A next movement can only come after the last look.
  const stops = done.length < challenge.movements.length ? [...made, frames.at(-1)?.atMs ?? 0] : made;
  if (longestGap(stops) <= limits.maxStepMs) return [];
  return done.length === 0 && greatest < limits.backToCentreShare ? ["face_still"] : ["movement_too_slow"];
}

export function hasCut(frames: readonly FrameMeasurement[], limits: LivenessLimits): boolean {
  const { cut } = limits;
  let before: FrameMeasurement | null = null;
  for (const frame of frames) {
    const { face } = frame;
    if (face === null) continue;
    const was = before?.face ?? null;
    if (before !== null && was !== null) {
      const seconds = (frame.atMs - before.atMs) / 1000;
      const degrees = cut.degrees + cut.degreesPerSecond * seconds;
      const turned = Math.max(
        Math.abs(face.yaw - was.yaw),
        Math.abs(face.pitch - was.pitch),
        Math.abs(face.roll - was.roll),
      );
      const shifted =
        Math.hypot(
          face.box.x + face.box.width / 2 - was.box.x - was.box.width / 2,
          face.box.y + face.box.height / 2 - was.box.y - was.box.height / 2,
        ) / Math.min(face.size, was.size);
      const grown = Math.max(face.size / was.size, was.size / face.size) - 1;
      const lit =
        face.surroundingLight === null || was.surroundingLight === null
          ? 1
          : brightness(face.surroundingLight) / brightness(was.surroundingLight);
      if (
        turned > degrees ||
        shifted > cut.shift + cut.shiftPerSecond * seconds ||
        grown > cut.growth + cut.growthPerSecond * seconds ||
        Math.max(lit, 1 / lit) > cut.light ||
        frame.width !== before.width ||
        frame.height !== before.height
      )
        return true;
    }
    before = frame;
  }
  return false;
}

function brightness([red, green, blue]: readonly [number, number, number]): number {
  // Black is not infinitely darker than nearly black.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.02;
}
