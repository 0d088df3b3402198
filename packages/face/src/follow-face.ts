import type { Box } from "./measurement.ts";

/**
 * A face is tracked from frame to frame by its mesh, which runs anyway. The detector looks at the whole
 * picture. It runs when the face was lost and at random frames, because only it sees a second face. All
 * numbers were set by hand.
 */
export const followLimits = {
  /**
   * After each run of the detector, one to this many frames are only tracked. The number is random, so that a
   * second face cannot be timed. Lower: more detector time. Doubled: a second face that shows for 1.5 seconds
   * may be missed.
   */
  maxFrames: 5,
  /**
   * Per frame, in heights of the face. Lower: quick heads need the detector more often. Higher: the mesh may
   * drift to another object unnoticed.
   */
  maxShift: 0.4,
  /** Lower: coming closer quickly needs the detector more often. Higher: as for the shift. */
  maxGrowth: 0.3,
} as const;

/** Whether a tracked face can be the one before. After a jump the detector must find it. */
export function isFollowed(before: Box, now: Box): boolean {
  const shift = Math.hypot(
    now.x + now.width / 2 - before.x - before.width / 2,
    now.y + now.height / 2 - before.y - before.height / 2,
  );
  const growth = Math.max(now.height / before.height, before.height / now.height) - 1;
  // Asked this way round, a box that is not a number is no face.
  return shift <= followLimits.maxShift * before.height && growth <= followLimits.maxGrowth;
}

/** The detected face that belongs to the tracked position: the largest whose middle lies in it. */
export function faceAt(place: Box, found: readonly Box[]): Box | null {
  const within = ({ x, y, width, height }: Box) => {
    const [across, along] = [x + width / 2, y + height / 2];
    return (
      across >= place.x &&
      across <= place.x + place.width &&
      along >= place.y &&
      along <= place.y + place.height
    );
  };
  return found.find(within) ?? null;
}
