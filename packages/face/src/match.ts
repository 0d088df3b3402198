import { distanceOf } from "./measurement.ts";
import { median } from "./median.ts";

export type MatchThresholds = {
  /** Up to this distance it is the same person. */
  readonly match: number;
  /**
   * Above `match` and up to this distance it may be the same person.
   * The try fails, and the audit log says that it was close.
   */
  readonly review: number;
};

/**
 * Between two kinds of public photographs (docs/face-error-rates.md, decision 0059). From different days,
 * 0.004 % of strangers match as in a try; of one camera and day, 0.3 to 1.2 % do. The author of the embedding
 * uses 0.6. The operator sets both.
 */
export const matchThresholds: MatchThresholds = { match: 0.55, review: 0.6 };

/**
 * A straight look nearer to the portrait than this share of the match distance is a copy: 0.2 at the default.
 * Of 5,861 pairs of photographs of one person from different days 19 were nearer (docs/face-error-rates.md).
 * Lower: noisy copies pass. Higher: genuine people are refused.
 */
const copyShare = 4 / 11;

export function copyDistance({ match }: MatchThresholds): number {
  return copyShare * match;
}

type MatchFinding = {
  readonly decision: "match" | "review" | "mismatch";
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
  thresholds: MatchThresholds = matchThresholds,
): MatchFinding {
  if (frontal.length === 0) throw new RangeError("There is no frame to compare with the portrait");
  const distances = frontal.map((embedding) => distanceOf(embedding, portrait));
  const distance = median(distances);
  // A distance that is not a number must never be a match.
  const decision =
    distance <= thresholds.match ? "match" : distance <= thresholds.review ? "review" : "mismatch";
  return { decision, distance, isCopy: Math.min(...distances) < copyDistance(thresholds) };
}
