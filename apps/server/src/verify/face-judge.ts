import type { FaceMovement } from "@assay/contract/verify-socket";

export type FaceFailureCode = "liveness_failed" | "selfie_face_mismatch";

/** The portrait of DG2 as the chip holds it; it passed passive authentication. */
export type ChipPortrait = {
  readonly kind: "jpeg" | "jp2" | "j2k";
  readonly bytes: Uint8Array;
};

export type CameraFrame = {
  /** A JPEG as the device sent it: hostile until decoded. */
  readonly bytes: Uint8Array;
  /** When it was taken, by the device's own account. */
  readonly atMs: number;
};

export type FaceVerdict = {
  failureCode: FaceFailureCode | null;
  /** The judge's own doubt about a face that passed, 0 to 1. */
  risk: number;
};

/**
 * Judges whether a living person moved as asked and is the one of the portrait. A rejection is a fault of ours and uses up no try; a bad
 * picture is a verdict. Nothing of what is passed in may be kept or logged.
 */
export interface FaceJudge {
  /** Fresh and random for each try. */
  newChallenge(): { movements: readonly FaceMovement[]; deadlineMs: number };
  judge(input: {
    portrait: ChipPortrait;
    movements: readonly FaceMovement[];
    frames: readonly CameraFrame[];
  }): Promise<FaceVerdict>;
}
