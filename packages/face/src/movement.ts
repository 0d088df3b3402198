import type { FaceMovement } from "@assay/contract/verify-protocol";
import { type MovementLimits, movementLimits } from "./limits.ts";
import type { FaceOpenings, HeadPose } from "./measurement.ts";
import { median } from "./median.ts";

/** Where a movement starts and ends: how the person holds head and face when looking straight ahead. */
export type Centre = Pick<HeadPose, "yaw" | "pitch" | "size"> & FaceOpenings;

/** From the first looks of a try; null while there are too few of them. */
export function centreOf(looks: readonly Centre[], limits: MovementLimits = movementLimits): Centre | null {
  const first = looks.slice(0, limits.startFrames);
  if (first.length < limits.startFrames) return null;
  return {
    yaw: median(first.map(({ yaw }) => yaw)),
    pitch: median(first.map(({ pitch }) => pitch)),
    size: median(first.map(({ size }) => size)),
    eyes: median(first.map(({ eyes }) => eyes)),
    mouth: median(first.map(({ mouth }) => mouth)),
  };
}

/**
 * The movement that a look is closest to,
 * and its value relative to the threshold: from 1 the movement is made.
 */
export type MovementShare = { readonly movement: FaceMovement; readonly share: number };

/**
 * With `stillHead` the head pose does not count: the person may not control it, and an open mouth moves the
 * chin, which the pose depends on. Otherwise eyes and mouth do not count, because people blink and speak.
 */
export function movementOf(
  look: Centre,
  centre: Centre,
  { limits = movementLimits, stillHead = false }: { limits?: MovementLimits; stillHead?: boolean } = {},
): MovementShare {
  const yaw = look.yaw - centre.yaw;
  const closer: MovementShare = {
    movement: "come_closer",
    share: (look.size / centre.size - 1) / (limits.closerRatio - 1),
  };
  const candidates: readonly MovementShare[] = stillHead
    ? [closedEyes(look, centre, limits), openMouth(look, centre, limits), closer]
    : [
        { movement: yaw > 0 ? "turn_left" : "turn_right", share: Math.abs(yaw) / limits.turnDegrees },
        { movement: "look_up", share: (look.pitch - centre.pitch) / limits.lookUpDegrees },
        closer,
      ];
  return candidates.reduce((most, next) => (next.share > most.share ? next : most));
}

/** Whether eyes are closed or the mouth is open, so that a look is no good one to compare with a portrait. */
export function isMidExpression(
  look: Centre,
  centre: Centre,
  limits: MovementLimits = movementLimits,
): boolean {
  return closedEyes(look, centre, limits).share >= 1 || openMouth(look, centre, limits).share >= 1;
}

function closedEyes(look: Centre, centre: Centre, limits: MovementLimits): MovementShare {
  return { movement: "close_eyes", share: (1 - look.eyes / centre.eyes) / limits.closedEyesShare };
}

function openMouth(look: Centre, centre: Centre, limits: MovementLimits): MovementShare {
  return { movement: "open_mouth", share: (look.mouth - centre.mouth) / limits.openMouth };
}
