import type { Box } from "./measurement.ts";

/**
 * A face is followed from frame to frame by its mesh (tracking), which is asked anyway; the detector, which looks at
 * the whole picture, runs where the face was lost and from time to time, because only it sees a second face. All
 * numbers by hand.
 */
export const followLimits = {
  /**
   * After each look of the detector between one and so many frames are only followed, how many is drawn at random: who
   * knew the frames could show a second face in between. Half: a fifth more of the detector's time. Twice: a second
   * face that is there for a second and a half may be missed.
   */
  maxFrames: 5,
  /**
   * In heights of the face, from one frame to the next. Half: quick heads cost the detector more often. Twice: the mesh
   * may wander off to something else unnoticed.
   */
  maxShift: 0.4,
  /** Half: who comes closer quickly costs the detector more often. Twice: as for the shift. */
  maxGrowth: 0.3,
} as const;

/** Whether a face that was looked for where one was before may be that one; what jumped is for the detector to find. */
export function isFollowed(before: Box, now: Box): boolean {
  const shift = Math.hypot(
    now.x + now.width / 2 - before.x - before.width / 2,
    now.y + now.height / 2 - before.y - before.height / 2,
  );
  const growth = Math.max(now.height / before.height, before.height / now.height) - 1;
  // Asked this way round, a box that is not a number is no face.
  return shift <= followLimits.maxShift * before.height && growth <= followLimits.maxGrowth;
}

/** Of the faces that were found, the one that was followed to this place: the largest of those whose middle lies in it. */
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
