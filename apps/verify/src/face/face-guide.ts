import { median } from "@assay/face/median";
import { Snapshot } from "./camera.ts";
import type { Sight } from "./framing.ts";
import type { GuideAnswer } from "./guide-answer.ts";

/**
 * A guide that needs longer for one look would delay people, so it is switched off. Set by hand, about the
 * time between two frames. Shorter: capable phones do not guide. Longer: a head may be back before its
 * movement is seen.
 */
const slowestLookMs = 250;
/**
 * The speed is the median of this many looks. Set by hand. Fewer: one hiccup of the browser ends the
 * guidance. More: a slow phone delays the person for longer.
 */
const looksToJudgeSpeed = 5;
/** At half of this small faces are lost. More pixels do not help: the models see 224 and 192. */
const pictureHeightPixels = 320;

/**
 * Analyses the camera's picture in a separate thread and reports what it sees.
 * It only guides; the service judges.
 */
export class FaceGuide {
  readonly #worker: Worker;
  readonly #snapshot = new Snapshot(pictureHeightPixels, "to_read");
  readonly #lookedMs: number[] = [];
  #onAnswer: ((answer: GuideAnswer) => void) | null = null;
  #failed = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#worker = new Worker(new URL("./guide-worker.ts", import.meta.url), { type: "module" });
    this.#worker.onmessage = (event: MessageEvent<GuideAnswer>) => this.#take(event.data);
    this.#worker.onerror = () => this.#take({ kind: "failed" });
  }

  /** Resolves with whether the models could be loaded. */
  async ready(): Promise<boolean> {
    return (await this.#next()).kind === "ready";
  }

  /** Null from the moment that it does not work or is too slow. */
  look(video: HTMLVideoElement): Promise<Sight | null> {
    const looked = this.#turn.then(() => this.#look(video));
    this.#turn = looked;
    return looked;
  }

  close(): void {
    this.#failed = true;
    this.#worker.terminate();
    this.#take({ kind: "failed" });
  }

  async #look(video: HTMLVideoElement): Promise<Sight | null> {
    if (this.#failed) return null;
    const picture = this.#snapshot.take(video) ? this.#snapshot.pixels() : null;
    if (picture === null) return { faces: 0, face: null };
    const beganMs = performance.now();
    const answered = this.#next();
    this.#worker.postMessage(picture, [picture.data.buffer]);
    const answer = await answered;
    this.#lookedMs.push(performance.now() - beganMs);
    if (this.#lookedMs.length > looksToJudgeSpeed) this.#lookedMs.shift();
    const isSlow = this.#lookedMs.length === looksToJudgeSpeed && median(this.#lookedMs) > slowestLookMs;
    if (answer.kind !== "sight" || isSlow) this.#failed = true;
    return answer.kind === "sight" && !this.#failed ? answer.sight : null;
  }

  #next(): Promise<GuideAnswer> {
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
    });
  }

  #take(answer: GuideAnswer): void {
    if (answer.kind === "failed") this.#failed = true;
    this.#onAnswer?.(answer);
    this.#onAnswer = null;
  }
}
