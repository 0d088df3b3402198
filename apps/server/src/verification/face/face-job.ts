import type { Box, FrameMeasurement } from "@assay/face/measurement";

export type TakenFrame = {
  readonly atMs: number;
  readonly receivedAtMs: number;
  readonly jpeg: Uint8Array;
};

/** What a worker is given: the pictures of one try. */
export type FaceJob = {
  readonly frames: readonly TakenFrame[];
  readonly portrait: Uint8Array;
  /** What was found in the first frames while the others were still to come. */
  readonly seen?: readonly SeenFrame[];
};

/**
 * One frame of a try. `near`: position of the face in the frame before. `mayFollow`: frames that may be
 * followed from there before the detector runs again.
 */
export type FaceLook = { readonly jpeg: Uint8Array; readonly near: Box | null; readonly mayFollow: number };

export type SeenFrame = Omit<FrameMeasurement, "atMs" | "receivedAtMs"> & {
  readonly kind: "seen";
  /**
   * Where the detector found the measured face; the embedding is made from this part. Null if there is no
   * face or it was only followed, which counts as one face.
   */
  readonly box: Box | null;
  readonly mayFollow: number;
};

/** How a frame is looked at that comes after one with this result. */
export function lookAfter(before: SeenFrame | undefined, jpeg: Uint8Array): FaceLook {
  return { jpeg, near: before?.face?.box ?? null, mayFollow: before?.mayFollow ?? 0 };
}

export type FaceLookResult = SeenFrame | { readonly kind: "frame_unreadable" };

/** What it answers: numbers, no picture. */
export type FaceJobResult =
  | {
      readonly kind: "measured";
      readonly frames: readonly FrameMeasurement[];
      readonly portraitEmbedding: readonly number[];
      /** The score of the operator's attack detector, from 0 to 1; absent without one. */
      readonly attackScore?: number | "unavailable";
    }
  | { readonly kind: "frame_unreadable" }
  | { readonly kind: "portrait_unusable" };

export type FaceJobLimits = {
  readonly maxFramePixels: number;
  readonly maxPortraitPixels: number;
};

export const defaultJobLimits: FaceJobLimits = {
  /**
   * Chosen by hand; the page sends 172,800. Too small: other devices' cameras are refused. Too large: each of
   * 110 frames costs more time and memory to decode.
   */
  maxFramePixels: 1_000_000,
  /** By hand; portraits on chips have about 200,000. Too large: a hostile document costs more memory. */
  maxPortraitPixels: 4_000_000,
};

export type FaceTask =
  | { readonly kind: "job"; readonly job: FaceJob }
  | { readonly kind: "look"; readonly look: FaceLook };

export type ToWorker = FaceTask & { readonly id: number };

export type FromWorker =
  | { readonly kind: "ready" }
  | {
      readonly kind: "result";
      readonly id: number;
      readonly result: FaceJobResult | FaceLookResult;
      readonly residentBytes: number;
    }
  | { readonly kind: "error"; readonly id: number; readonly name: string };
