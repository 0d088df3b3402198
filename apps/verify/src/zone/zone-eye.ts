import type { Sight, Tip } from "@assay/mrz-reader/mrz-reader";
import weightsFile from "@assay/mrz-reader/networks/mrz-reader.bin?url";
import planFile from "@assay/mrz-reader/networks/mrz-reader.json?url";
import type { ZoneAnswer, ZoneQuestion } from "./zone-messages.ts";

/**
 * The longer side of a picture that is looked at. Half: a passport that fills the picture has seven pixels for a character, and half of the keys are missed.
 * Twice: four times the pixels to fetch from the camera, and no key more.
 */
const longestSide = 1280;

async function fetched(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
  return response;
}

/** Looks at pictures in a thread of its own, one at a time. */
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
    this.#worker.onerror = () => this.#take({ type: "failed" });
  }

  /** Resolves with whether the reader could be loaded. */
  async load(): Promise<boolean> {
    try {
      const [plan, weights] = await Promise.all([
        fetched(planFile).then((response) => response.json() as Promise<unknown>),
        fetched(weightsFile).then((response) => response.arrayBuffer()),
      ]);
      return (await this.#ask({ type: "load", plan, weights }, [weights])).type === "ready";
    } catch {
      return false;
    }
  }

  /** Null when there is no picture yet, or the reader has failed. Corners are told in pixels of the picture of this size. The tip is what the frames before say about where to look. */
  async look(
    source: HTMLVideoElement | ImageBitmap,
    { side = longestSide, tip = null }: { side?: number; tip?: Tip | null } = {},
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
    const answer = await this.#ask({ type: "look", picture, atMs: Date.now(), tip }, [picture.data.buffer]);
    return answer.type === "sight" ? { sight: answer.sight, width: w, height: h } : null;
  }

  get failed(): boolean {
    return this.#failed;
  }

  close(): void {
    this.#worker.terminate();
    this.#take({ type: "failed" });
  }

  #ask(question: ZoneQuestion, handedOver: Transferable[]): Promise<ZoneAnswer> {
    if (this.#failed) return Promise.resolve({ type: "failed" });
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
      this.#worker.postMessage(question, handedOver);
    });
  }

  #take(answer: ZoneAnswer): void {
    if (answer.type === "failed") this.#failed = true;
    this.#onAnswer?.(answer);
    this.#onAnswer = null;
  }
}
