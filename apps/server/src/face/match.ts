import { distanceOf, median } from "./measurement.ts";

export interface MatchThresholds {
  /** Up to this distance it is the same person. */
  readonly match: number;
  /** From there up to this one it may be, which is not enough: the try fails, and the audit tells that it was close. */
  readonly review: number;
}

export const DEFAULT_THRESHOLDS: MatchThresholds = { match: 0.5, review: 0.58 };

export interface MatchFinding {
  readonly decision: "match" | "review" | "mismatch";
  readonly distance: number;
}

/**
 * The middle distance of the frames that look straight ahead: the least would let one lucky frame decide, the greatest one blurred frame.
 */
export function matchPortrait(
  portrait: readonly number[],
  frontal: readonly (readonly number[])[],
  thresholds: MatchThresholds = DEFAULT_THRESHOLDS,
): MatchFinding {
  if (frontal.length === 0) throw new RangeError("There is no frame to compare with the portrait");
  const distance = median(frontal.map((embedding) => distanceOf(embedding, portrait)));
  // A distance that is not a number must never be a match.
  const decision =
    distance <= thresholds.match ? "match" : distance <= thresholds.review ? "review" : "mismatch";
  return { decision, distance };
}
