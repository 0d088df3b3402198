import type { Box } from "@assay/face/measurement";
import type { DecodedPicture } from "./decode-picture.ts";

/** A frame that is shown to a detector, and where the face is in it. */
export type ShownFrame = { readonly picture: DecodedPicture; readonly face: Box; readonly atMs: number };

/**
 * The operator's detector of presentation attacks, loaded from the module FACE_ATTACK_DETECTOR. It runs in
 * the process that sees pictures, with its limits.
 */
export type AttackDetector = {
  /** From 0, a person, to 1, an attack. `frames`: up to eight, straight and turned, in any order. */
  score(frames: readonly ShownFrame[]): Promise<number> | number;
};

export type LoadAttackDetector = () => Promise<AttackDetector>;

/**
 * Longest time for one try, chosen by hand. Too small: a large network on a slow core gives no answer. Too
 * large: the person waits longer.
 */
export const detectorTimeoutMs = 5_000;

/** A score above it is an attack. The middle: a detector scales its own score. */
export const detectorLimit = 0.5;

/** Its score, or `unavailable` if it threw, took too long, or returned no number from 0 to 1. */
export async function scoreAttack(
  load: Promise<AttackDetector>,
  frames: readonly ShownFrame[],
  timeoutMs = detectorTimeoutMs,
): Promise<number | "unavailable"> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<"unavailable">((resolve) => {
    timer = setTimeout(() => resolve("unavailable"), timeoutMs);
  });
  try {
    const score = await Promise.race([load.then((detector) => detector.score(frames)), tooLate]);
    return typeof score === "number" && score >= 0 && score <= 1 ? score : "unavailable";
  } catch {
    return "unavailable";
  } finally {
    clearTimeout(timer);
  }
}
