import { distanceOf } from "./measurement.ts";
import { median } from "./median.ts";

/**
 * Up to this distance it is the same person, unless the operator sets another one. Of strangers in five sets
 * of public photographs, compared as in a try, 0.002 to 0.4 % match (docs/face-error-rates.md, decision 0059).
 */
export const defaultMatchDistance = 0.55;

/** A failed match up to this share of the match distance was close: 0.6 at the default. */
const closeShare = 12 / 11;

export function closeDistance(matchDistance: number): number {
  return closeShare * matchDistance;
}

/**
 * A straight look nearer to the portrait than this share of the match distance is a copy: 0.2 at the default.
 * Of 17,631 pairs of photographs of one person from different days 15 were nearer (docs/face-error-rates.md).
 * Lower: noisy copies pass. Higher: genuine people are refused.
 */
const copyShare = 4 / 11;

export function copyDistance(matchDistance: number): number {
  return copyShare * matchDistance;
}

type MatchFinding = {
  readonly decision: "match" | "close" | "mismatch";
  readonly distance: number;
  /** One of the frames is nearer to the portrait than another picture of the person can be. */
  readonly isCopy: boolean;
};

/**
 * The median distance of the straight frames:
 * the minimum would let one lucky frame decide, the maximum one blurred frame.
 */
export function matchPortrait(
  portrait: readonly number[],
  frontal: readonly (readonly number[])[],
  matchDistance = defaultMatchDistance,
): MatchFinding {
  if (frontal.length === 0) throw new RangeError("There is no frame to compare with the portrait");
  const distances = frontal.map((embedding) => distanceOf(embedding, portrait));
  const distance = median(distances);
  // A distance that is not a number must never be a match.
  const decision =
    distance <= matchDistance ? "match" : distance <= closeDistance(matchDistance) ? "close" : "mismatch";
  return { decision, distance, isCopy: Math.min(...distances) < copyDistance(matchDistance) };
}
