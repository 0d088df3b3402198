import type { Sight } from "@assay/mrz-reader/mrz-reader";
import weightsFile from "@assay/mrz-reader/networks/mrz-reader.bin?url";
import planFile from "@assay/mrz-reader/networks/mrz-reader.json?url";
import type { ZoneAnswer, ZoneQuestion } from "./zone-messages.ts";

/**
 * The longer side of a picture. At half, a passport has seven pixels a character, and half of the keys are
 * missed; at twice no more are read.
 */
const maxSide = 1280;

async function fetched(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
  return response;
}

/** Reads pictures in a separate thread, one at a time. */
export class ZoneEye {
  readonly #worker: Worker;
  readonly #canvas = document.createElement("canvas");
  readonly #context: CanvasRenderingContext2D | null;
  #onAnswer: ((answer: ZoneAnswer) => void) | null = null;
  #failed = false;

  constructor() {
    this.#context = this.#canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    this.#worker = new Worker(new URL("./mrz-worker.ts", import.meta.url), { type: "module" });
    this.#worker.onmessage = (event: MessageEvent<ZoneAnswer>) => this.#take(event.data);
    this.#worker.onerror = () => this.#take({ kind: "failed" });
  }

  /** Resolves with whether the reader could be loaded. */
  async load(): Promise<boolean> {
    try {
      const [plan, weights] = await Promise.all([
        fetched(planFile).then((response) => response.json() as Promise<unknown>),
        fetched(weightsFile).then((response) => response.arrayBuffer()),
      ]);
      return (await this.#ask({ kind: "load", plan, weights }, [weights])).kind === "ready";
    } catch {
      return false;
    }
  }

  /**
   * Null if there is no picture yet, or the reader has failed.
   * Corners are in pixels of a picture of this size.
   */
  async look(
    source: HTMLVideoElement | ImageBitmap,
    side = maxSide,
  ): Promise<{ sight: Sight; width: number; height: number } | null> {
    const isVideo = "videoWidth" in source;
    const [width, height] = isVideo ? [source.videoWidth, source.videoHeight] : [source.width, source.height];
    if (this.#context === null || width === 0 || this.#failed) return null;
    const factor = Math.min(1, side / Math.max(width, height));
    const [w, h] = [Math.max(1, Math.round(width * factor)), Math.max(1, Math.round(height * factor))];
    if (this.#canvas.width !== w || this.#canvas.height !== h)
      [this.#canvas.width, this.#canvas.height] = [w, h];
    this.#context.drawImage(source, 0, 0, w, h);
    const picture = this.#context.getImageData(0, 0, w, h);
    const answer = await this.#ask({ kind: "look", picture, atMs: Date.now() }, [picture.data.buffer]);
    return answer.kind === "sight" ? { sight: answer.sight, width: w, height: h } : null;
  }

  get failed(): boolean {
    return this.#failed;
  }

  close(): void {
    this.#worker.terminate();
    this.#take({ kind: "failed" });
  }

  #ask(question: ZoneQuestion, handedOver: Transferable[]): Promise<ZoneAnswer> {
    if (this.#failed) return Promise.resolve({ kind: "failed" });
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
      this.#worker.postMessage(question, handedOver);
    });
  }

  #take(answer: ZoneAnswer): void {
    if (answer.kind === "failed") this.#failed = true;
    this.#onAnswer?.(answer);
    this.#onAnswer = null;
  }
}
