import type { Box } from "@assay/face/measurement";
import type { DecodedPicture } from "./decode-picture.ts";

/** A frame that is shown to a detector, and where the face is in it. */
export type ShownFrame = { readonly picture: DecodedPicture; readonly face: Box; readonly atMs: number };

/**
 * What the module of FACE_ATTACK_DETECTOR loads: an operator's own detector of presentation attacks. It runs in the process that sees pictures, with its limits.
 */
export type AttackDetector = {
  /** From 0, a person, to 1, an attack. `frames`: the up to eight that are compared, straight ones and turned ones, in no order. */
  score(frames: readonly ShownFrame[]): Promise<number> | number;
};

export type LoadAttackDetector = () => Promise<AttackDetector>;

/**
 * Longest time for one try. By hand. Half: a large network on a slow core gives no answer. Twice: a try takes ten seconds longer than its work.
 */
export const detectorTimeoutMs = 5_000;

/** A score above it is an attack. The middle: a detector scales its own score. */
export const detectorLimit = 0.5;

/** Its answer, or that it gave none: it broke, took too long, or answered with something that is no number from 0 to 1. */
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
