import { verifySocketLimits } from "@assay/contract/verify-protocol";
import type { Challenge } from "./challenge.ts";
import { type LivenessLimits, livenessLimits } from "./limits.ts";
import { hasCut, judgeTimesSoFar, type LivenessReason, longestGap, orderSoFar } from "./liveness.ts";
import type { FrameMeasurement } from "./measurement.ts";
import { centreOf } from "./movement.ts";

/**
 * Why a try can no longer pass, whatever its next frames show; empty while it can. `frames` are the first
 * ones of the try. More frames cannot undo these reasons, so the try would fail with the same code at its
 * end. Reasons that may still change (too few frames, a face away for a moment) or that need all frames (one
 * person) are not checked.
 */
export function foreseeFailure(
  frames: readonly FrameMeasurement[],
  challenge: Challenge,
  limits: LivenessLimits = livenessLimits,
): readonly LivenessReason[] {
  const times = judgeTimesSoFar(frames, challenge, limits);
  if (times.length > 0) return times;
  const counted = frames.flatMap(({ atMs, face }) => (face === null ? [] : [{ atMs, face }]));
  // The final number of frames is unknown, but the socket accepts no more than these.
  const maxBad = verifySocketLimits.faceFrames * limits.maxBadFrameShare;
  if (frames.length - counted.length > maxBad) return ["no_face"];
  const reasons: LivenessReason[] = [];
  if (frames.filter(({ faces }) => faces > 1).length > maxBad) reasons.push("several_faces");
  // A face that is away leaves its gap when it is back; until then the film may end without it.
  if (longestGap(counted.map(({ atMs }) => atMs)) > limits.maxGapMs) reasons.push("frame_rate_too_low");
  if (hasCut(frames, limits)) reasons.push("cut");
  const centre = centreOf(
    counted.map(({ face }) => face),
    limits,
  );
  if (centre === null) return reasons;
  if (Math.abs(centre.yaw) > limits.maxStartYaw) return [...reasons, "not_frontal_at_start"];
  return [...reasons, ...orderSoFar(counted, centre, challenge, limits)];
}
