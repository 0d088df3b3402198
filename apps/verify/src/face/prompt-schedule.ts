import { type FaceMovement, isForStillHead } from "@assay/contract/verify-protocol";
import { captureLimits, movementLimits } from "@assay/face/limits";
import { centreOf, movementOf } from "@assay/face/movement";
import type { SeenFace } from "./framing.ts";

export type FacePrompt = "ahead" | FaceMovement;

/**
 * Thresholds of the page: a little more than the service's for a movement, and a little less for the return,
 * because the service measures separately. Set by hand. Lower: the page continues although the service saw no
 * movement. Higher: people wait after a movement that they have made.
 */
const movedShare = 1.1;
const backShare = 0.5;

/**
 * With guidance a prompt ends when it is followed, at the latest after this time. Set by hand: back and
 * movement together stay under the service's `maxStepMs`, and four movements take 31 seconds, for which 110
 * frames last. Shorter: slow people are rushed past a movement and fail. Longer: movements come too late, and
 * the frames run out.
 */
const maxStageMs = { start: 1_600, movement: 5_000, back: 2_200 } as const;
/**
 * Without guidance each prompt stays for this time, whether or not it is followed. Set by hand, 18 seconds in
 * all. Shorter: too quick to read and move. Doubled: the steps reach the service's limit.
 */
const timedMs = { start: 1_500, movement: 2_600, back: 1_400 } as const;
/**
 * Long enough for the looks that define straight ahead for the service. Set by hand. At half, the first
 * movement begins within the third look. Twice would exceed the longest start.
 */
const shortestStartMs = 900;

type Stage = {
  readonly kind: keyof typeof maxStageMs;
  readonly prompt: FacePrompt;
  readonly movement: number;
};

function longestOf(stages: readonly Stage[]): number {
  return stages.reduce((sum, { kind }) => sum + maxStageMs[kind], 0);
}

/**
 * Chooses the instruction to show: straight ahead, then each movement and back again. Its input is the time
 * and what the guide sees in each frame: `undefined` without guidance, `null` if the guide finds no face.
 */
export class PromptSchedule {
  readonly #stages: readonly Stage[];
  readonly #pace: number;
  readonly #stillHead: boolean;
  readonly #first: SeenFace[] = [];
  #at = 0;
  #sinceMs = 0;
  #looks = 0;

  /** `withinMs` is the time that is left. Where the prompts would take longer, all of them are shortened. */
  constructor(movements: readonly FaceMovement[], withinMs: number) {
    this.#stillHead = isForStillHead(movements);
    this.#stages = [
      { kind: "start", prompt: "ahead", movement: 0 },
      ...movements.flatMap((prompt, movement): Stage[] => [
        { kind: "movement", prompt, movement: movement + 1 },
        { kind: "back", prompt: "ahead", movement: movement + 1 },
      ]),
    ];
    this.#pace = Math.min(1, Math.max(0, withinMs) / longestOf(this.#stages));
  }

  get prompt(): FacePrompt {
    return this.#stages[this.#at]?.prompt ?? "ahead";
  }

  /** Counted from 1, and 0 before the first; the look ahead after a movement belongs to it. */
  get movement(): number {
    return (this.#stages[this.#at] ?? this.#stages.at(-1))?.movement ?? 0;
  }

  get isOver(): boolean {
    return this.#at >= this.#stages.length;
  }

  /** The longest time that the schedule can still take. */
  maxLeftMs(atMs: number): number {
    return longestOf(this.#stages.slice(this.#at)) * this.#pace - (atMs - this.#sinceMs);
  }

  look(atMs: number, face: SeenFace | null | undefined): void {
    const stage = this.#stages[this.#at];
    if (stage === undefined) return;
    if (face && this.#first.length < movementLimits.startFrames) this.#first.push(face);
    if (face) this.#looks = this.#isFollowed(stage, face) ? this.#looks + 1 : 0;
    const forMs = atMs - this.#sinceMs;
    const maxMs = (face === undefined ? timedMs : maxStageMs)[stage.kind] * this.#pace;
    const followed =
      this.#looks >=
        (stage.prompt === "close_eyes" ? movementLimits.closedEyesFrames : movementLimits.framesToCount) &&
      (stage.kind !== "start" || forMs >= shortestStartMs);
    if (!followed && forMs < maxMs) return;
    this.#at += 1;
    // A frame comes a little after the moment at which a prompt should end. The next prompt is timed from
    // that moment, so that delays do not add up.
    this.#sinceMs = followed ? atMs : this.#sinceMs + maxMs;
    this.#looks = 0;
  }

  #isFollowed(stage: Stage, face: SeenFace): boolean {
    const centre = centreOf(this.#first);
    if (centre === null) return false;
    const { movement, share } = movementOf(face, centre, { stillHead: this.#stillHead });
    return stage.prompt === "ahead" ? share < backShare : movement === stage.prompt && share >= movedShare;
  }
}

/** At half of this the 110 frames are used up after 13 seconds; at twice the service refuses the pace. */
const usualFrameMs = 240;
/**
 * A tenth faster than the service's minimum rate, for late frames. Set by hand; at exactly three frames a
 * second, one late frame would fail a try.
 */
const slowestFrameMs = Math.floor(900 / captureLimits.minFramesPerSecond);

/**
 * Uses the usual pace while enough frames are left for the slowest person,
 * and a slightly slower one otherwise.
 */
export function frameEveryMs(framesLeft: number, maxLeftMs: number): number {
  return (framesLeft - 1) * slowestFrameMs > maxLeftMs ? usualFrameMs : slowestFrameMs;
}
