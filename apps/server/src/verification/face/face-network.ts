import { InferenceSession, Tensor } from "onnxruntime-node";

/** One network and the buffer for its input, which is reused. */
export class FaceNetwork<Output extends string> {
  readonly #session: InferenceSession;
  readonly #pixels: Float32Array;
  readonly #picture: Tensor;
  #before: Promise<unknown> = Promise.resolve();

  private constructor(session: InferenceSession, side: number) {
    this.#session = session;
    this.#pixels = new Float32Array(3 * side * side);
    this.#picture = new Tensor("float32", this.#pixels, [1, 3, side, side]);
  }

  /** `model`: in ONNX, with a square picture of this side as its input. */
  static async load<Output extends string>(model: Uint8Array, side: number): Promise<FaceNetwork<Output>> {
    const session = await InferenceSession.create(model, {
      executionProviders: ["cpu"],
      // A process judges one try at a time, and FACE_WORKERS says how many cores may be busy with that.
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: "sequential",
      graphOptimizationLevel: "all",
      // Faults only: its warnings are about its own optimisations.
      logSeverityLevel: 4,
    });
    return new FaceNetwork(session, side);
  }

  /** `draw` writes the picture channel by channel. Concurrent calls run one after the other. */
  run(draw: (pixels: Float32Array) => void): Promise<Readonly<Record<Output, Float32Array>>> {
    const answer = this.#before.then(async () => {
      draw(this.#pixels);
      const outputs = await this.#session.run({ picture: this.#picture });
      return Object.fromEntries(
        Object.entries(outputs).map(([name, { data }]) => [name, data as Float32Array]),
      ) as Record<Output, Float32Array>;
    });
    this.#before = answer.catch(() => undefined);
    return answer;
  }
}
