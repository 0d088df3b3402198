import type { FaceMovement } from "@assay/contract/verify-protocol";
import type { SeenFace } from "./framing.ts";

export type FacePrompt = "ahead" | FaceMovement;

/** What the service counts as a movement, with a little more asked for, because it measures on its own. */
const countsFrom = { turnDegrees: 14, lookUpDegrees: 9, closerRatio: 1.25 } as const;
const movedShare = 1.1;
const backShare = 0.5;
const looksToCount = 2;
/** The service takes the middle of the first three looks for straight ahead. */
const looksAtStart = 3;

/** With guidance a prompt ends when it was followed, at the latest after this time. */
const longestMs = { start: 1_600, movement: 5_000, back: 2_200 } as const;
/** Without guidance each prompt stays for this time. The service wants a movement within eight seconds of the one before. */
const timedMs = { start: 1_500, movement: 2_600, back: 1_400 } as const;
const shortestStartMs = 900;

type Stage = {
  readonly kind: keyof typeof longestMs;
  readonly prompt: FacePrompt;
  readonly movement: number;
};

function longestOf(stages: readonly Stage[]): number {
  return stages.reduce((sum, { kind }) => sum + longestMs[kind], 0);
}

type Centre = Pick<SeenFace, "yaw" | "pitch" | "size">;

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** How far the head is from where it began, each movement as a share of what counts. */
function sharesOf(face: SeenFace, centre: Centre): Readonly<Record<FaceMovement, number>> {
  const yaw = (face.yaw - centre.yaw) / countsFrom.turnDegrees;
  return {
    turn_left: yaw,
    turn_right: -yaw,
    look_up: (face.pitch - centre.pitch) / countsFrom.lookUpDegrees,
    come_closer: (face.size / centre.size - 1) / (countsFrom.closerRatio - 1),
  };
}

/**
 * Which instruction is shown when: straight ahead, then each movement and back again. It is told the time and what the
 * guide sees of each frame; `undefined` stands for no guidance, `null` for a face that the guide does not find.
 */
export class PromptSchedule {
  readonly #stages: readonly Stage[];
  readonly #pace: number;
  readonly #first: SeenFace[] = [];
  #at = 0;
  #sinceMs = 0;
  #looks = 0;

  /** `withinMs`: everything goes quicker when there is less time than it takes. */
  constructor(movements: readonly FaceMovement[], withinMs: number) {
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

  /** How long it lasts from now at most. */
  longestLeftMs(atMs: number): number {
    return longestOf(this.#stages.slice(this.#at)) * this.#pace - (atMs - this.#sinceMs);
  }

  look(atMs: number, face: SeenFace | null | undefined): void {
    const stage = this.#stages[this.#at];
    if (stage === undefined) return;
    if (face && this.#first.length < looksAtStart) this.#first.push(face);
    if (face) this.#looks = this.#isFollowed(stage, face) ? this.#looks + 1 : 0;
    const forMs = atMs - this.#sinceMs;
    const mostMs = (face === undefined ? timedMs : longestMs)[stage.kind] * this.#pace;
    const followed = this.#looks >= looksToCount && (stage.kind !== "start" || forMs >= shortestStartMs);
    if (!followed && forMs < mostMs) return;
    this.#at += 1;
    // Frames come a little after the moment; that must not add up from prompt to prompt.
    this.#sinceMs = followed ? atMs : this.#sinceMs + mostMs;
    this.#looks = 0;
  }

  #isFollowed(stage: Stage, face: SeenFace): boolean {
    if (this.#first.length < looksAtStart) return false;
    const shares = sharesOf(face, {
      yaw: median(this.#first.map(({ yaw }) => yaw)),
      pitch: median(this.#first.map(({ pitch }) => pitch)),
      size: median(this.#first.map(({ size }) => size)),
    });
    const furthest = Math.max(...Object.values(shares));
    if (stage.prompt === "ahead") return furthest < backShare;
    return shares[stage.prompt] >= movedShare && shares[stage.prompt] === furthest;
  }
}

const usualFrameMs = 240;
/** The service wants at least three frames a second. */
const slowestFrameMs = 300;

/** Frames come as usual while there are enough of them left for the slowest person, and a little slower when not. */
export function frameEveryMs(framesLeft: number, longestLeftMs: number): number {
  return (framesLeft - 1) * slowestFrameMs > longestLeftMs ? usualFrameMs : slowestFrameMs;
}
