import type { LivenessReason } from "./liveness.ts";

/** Every reason why a face can be rejected. */
export type FailureReason =
  | LivenessReason
  /** A frame is no picture that is taken here. */
  | "frame_unreadable"
  /** The distance is close to that of a match, and not close enough. */
  | "match_in_review_band"
  | "match_too_far"
  /** A frame is a copy of the portrait. */
  | "portrait_copied"
  /** The face turned, and what surrounds it did not: a picture that is bent. */
  | "face_bent"
  /** The operator's own detector took it for an attack. */
  | "attack_detected";
