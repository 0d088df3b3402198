import type { FrameMeasurement } from "@assay/face/measurement";
import { type FaceLook, type FaceLookResult, lookAfter, type SeenFrame } from "./face-job.ts";
import { WorkerFault, type WorkerFaultReason } from "./face-worker-pool.ts";

/** What has been found out about a try so far. */
type SeenSoFar =
  | { readonly kind: "seen"; readonly frames: readonly SeenFrame[] }
  | { readonly kind: "frame_unreadable" }
  | { readonly kind: "fault"; readonly reason: WorkerFaultReason };

type TimedFrame = Pick<FrameMeasurement, "atMs" | "receivedAtMs"> & { readonly jpeg: Uint8Array };

/** Called after every look, until the sitting is closed, with the results of the first frames. */
type AfterLook = (soFar: readonly FrameMeasurement[] | Exclude<SeenSoFar, { kind: "seen" }>["kind"]) => void;

/**
 * Examines the frames of one try during the capture, while a worker is idle, so that little remains after the
 * last frame. The judgement examines the rest, so a busy machine loses nothing.
 */
export class FaceSitting {
  readonly #look: (look: FaceLook) => Promise<FaceLookResult> | null;
  readonly #afterLook: AfterLook;
  #frames: TimedFrame[] = [];
  #seen: SeenFrame[] = [];
  #found: Exclude<SeenSoFar, { kind: "seen" }> | null = null;
  #looking: Promise<void> | null = null;
  #closed = false;

  /** `look` returns null if no worker is idle. */
  constructor(look: (look: FaceLook) => Promise<FaceLookResult> | null, afterLook: AfterLook = () => {}) {
    this.#look = look;
    this.#afterLook = afterLook;
  }

  /** The next frame has arrived, whole. */
  add(frame: TimedFrame): void {
    if (this.#closed) return;
    this.#frames.push(frame);
    this.#lookOn();
  }

  /** How many frames were looked at. */
  get looked(): number {
    return this.#seen.length;
  }

  /** Stops looking and returns the results of the frames examined so far, which are the first of the try. */
  async finish(): Promise<SeenSoFar> {
    this.#closed = true;
    await this.#looking;
    return this.#found ?? { kind: "seen", frames: this.#seen };
  }

  /** Drops the results, because the try will not be judged. */
  forget(): void {
    this.#closed = true;
    this.#frames = [];
    this.#seen = [];
  }

  #lookOn(): void {
    const frame = this.#frames[this.#seen.length];
    if (this.#closed || this.#found !== null || this.#looking !== null || frame === undefined) return;
    const look = this.#look(lookAfter(this.#seen.at(-1), frame.jpeg));
    if (look === null) return;
    this.#looking = this.#keep(look).then(() => {
      this.#looking = null;
      if (!this.#closed) this.#afterLook(this.#found?.kind ?? this.#soFar());
      this.#lookOn();
    });
  }

  #soFar(): FrameMeasurement[] {
    return this.#seen.flatMap(({ faces, width, height, face }, index): FrameMeasurement[] => {
      const frame = this.#frames[index];
      if (frame === undefined) return [];
      const { atMs, receivedAtMs } = frame;
      return [{ atMs, receivedAtMs, faces, width, height, face }];
    });
  }

  async #keep(look: Promise<FaceLookResult>): Promise<void> {
    try {
      const found = await look;
      if (found.kind === "seen") this.#seen.push(found);
      else this.#found = found;
    } catch (error) {
      // Frames that crash a worker end the try with this fault, as they would during the judgement.
      this.#found = { kind: "fault", reason: error instanceof WorkerFault ? error.reason : "worker_error" };
    }
  }
}
