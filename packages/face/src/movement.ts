import type { FaceMovement } from "@assay/contract/verify-protocol";
import { type MovementLimits, movementLimits } from "./limits.ts";
import type { HeadPose } from "./measurement.ts";
import { median } from "./median.ts";

/** Where a movement starts and ends: how the person holds the head when looking straight ahead. */
export type Centre = Pick<HeadPose, "yaw" | "pitch" | "size">;

/** From the first looks of a try; null while there are too few of them. */
export function centreOf(looks: readonly Centre[], limits: MovementLimits = movementLimits): Centre | null {
  const first = looks.slice(0, limits.startFrames);
  if (first.length < limits.startFrames) return null;
  return {
    yaw: median(first.map(({ yaw }) => yaw)),
    pitch: median(first.map(({ pitch }) => pitch)),
    size: median(first.map(({ size }) => size)),
  };
}

/** The movement that a look comes closest to, and its value as a share of the threshold: from 1 on the movement is made. */
export type Reach = { readonly movement: FaceMovement; readonly share: number };

export function reachOf(look: Centre, centre: Centre, limits: MovementLimits = movementLimits): Reach {
  const yaw = look.yaw - centre.yaw;
  const reaches: readonly Reach[] = [
    { movement: yaw > 0 ? "turn_left" : "turn_right", share: Math.abs(yaw) / limits.turnDegrees },
    { movement: "look_up", share: (look.pitch - centre.pitch) / limits.lookUpDegrees },
    { movement: "come_closer", share: (look.size / centre.size - 1) / (limits.closerRatio - 1) },
  ];
  return reaches.reduce((most, next) => (next.share > most.share ? next : most));
}
