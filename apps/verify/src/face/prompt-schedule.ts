import { type FaceMovement, isForStillHead } from "@assay/contract/verify-protocol";
import { captureLimits, movementLimits } from "@assay/face/limits";
import { centreOf, movementOf } from "@assay/face/movement";
import type { SeenFace } from "./framing.ts";

export type FacePrompt = "ahead" | FaceMovement;

/**
 * Thresholds of the page: a little more than the service counts as a movement, and a little closer to the middle than
 * it counts as back, because the service measures on its own. By hand. Half: the page goes on although the service saw
 * no movement. Twice: people wait for a movement that they have made; a back share beyond the service's never comes
 * back.
 */
const movedShare = 1.1;
const backShare = 0.5;

/**
 * With guidance a prompt ends when it was followed, at the latest after this time. By hand: back and movement together
 * stay under the service's `maxStepMs`, and four movements take 31 seconds, for which 110 frames last. Half: slow
 * people are hurried past a movement, and fail. Twice: a movement may come later than the service allows, and the
 * frames run out.
 */
const maxStageMs = { start: 1_600, movement: 5_000, back: 2_200 } as const;
/**
 * Without guidance each prompt stays for this time, and nobody looks whether it was followed. By hand, 18 seconds in
 * all. Half: too quick to read and move. Twice: from movement to movement it takes as long as the service allows.
 */
const timedMs = { start: 1_500, movement: 2_600, back: 1_400 } as const;
/**
 * Long enough for the looks that the service takes for straight ahead. By hand. Half: two looks, and the first movement
 * begins within the third. Twice: later than the longest start, so it never counts.
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
 * Which instruction is shown when: straight ahead, then each movement and back again. It is told the time and what the
 * guide sees of each frame; `undefined` stands for no guidance, `null` for a face that the guide does not find.
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
    // A frame comes a little after the moment at which a prompt should end. The next prompt is timed from that moment,
    // so that the delays do not add up.
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
 * A tenth quicker than the service's least rate, for frames that come late. By hand; at three frames a second sharp,
 * one late frame would fail a try.
 */
const slowestFrameMs = Math.floor(900 / captureLimits.minFramesPerSecond);

/** Frames are taken at the usual pace while enough of them are left for the slowest person, and a little slower otherwise. */
export function frameEveryMs(framesLeft: number, maxLeftMs: number): number {
  return (framesLeft - 1) * slowestFrameMs > maxLeftMs ? usualFrameMs : slowestFrameMs;
}
