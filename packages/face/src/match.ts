import { distanceOf } from "./measurement.ts";
import { median } from "./median.ts";

export type MatchThresholds = {
  /** Up to this distance it is the same person. */
  readonly match: number;
  /**
   * Above `match` and up to this distance it may be the same person. That is not enough: the try fails, and the audit
   * log says that it was close.
   */
  readonly review: number;
};

/**
 * By hand, below the 0.6 at which the author of the embedding takes two photographs for one person. The drawn people are 0.07 to 0.12 from their own portrait and
 * 0.56 to 0.74 from each other; error rates with people have not been measured. The operator sets both. Half: a passport photograph of ten years ago may be too far (not
 * measured). Twice: everybody is everybody.
 */
export const matchThresholds: MatchThresholds = { match: 0.5, review: 0.58 };

export type MatchFinding = {
  readonly decision: "match" | "review" | "mismatch";
  readonly distance: number;
};

/**
 * The middle distance of the frames that look straight ahead: the least would let one lucky frame decide, the greatest one blurred frame.
 */
export function matchPortrait(
  portrait: readonly number[],
  frontal: readonly (readonly number[])[],
  thresholds: MatchThresholds = matchThresholds,
): MatchFinding {
  if (frontal.length === 0) throw new RangeError("There is no frame to compare with the portrait");
  const distance = median(frontal.map((embedding) => distanceOf(embedding, portrait)));
  // A distance that is not a number must never be a match.
  const decision =
    distance <= thresholds.match ? "match" : distance <= thresholds.review ? "review" : "mismatch";
  return { decision, distance };
}
