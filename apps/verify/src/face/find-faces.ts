import { decodeFaces, detectorInputPixels, withoutBackground } from "@assay/face/find-faces";
import type { Box } from "@assay/face/measurement";
import * as tf from "@tensorflow/tfjs-core";

/** The tiny detector of face-api: what its weights were trained with. */
const meanColour = [117.001, 114.697, 97.404] as const;
const leakySlope = 0.1;
const separableLayers = ["conv1", "conv2", "conv3", "conv4", "conv5"] as const;

/** Every face of like size in a picture, the largest first. */
export class FaceFinder {
  readonly #weights: tf.NamedTensorMap;

  constructor(manifest: readonly { weights: tf.io.WeightsManifestEntry[] }[], weights: ArrayBuffer) {
    this.#weights = tf.io.decodeWeights(
      weights,
      manifest.flatMap((group) => group.weights),
    );
  }

  find(picture: tf.Tensor3D): readonly Box[] {
    const [height, width] = picture.shape;
    const side = Math.max(height, width);
    const values = tf.tidy(() => {
      const square = tf.pad(picture, [
        [0, side - height],
        [0, side - width],
        [0, 0],
      ]);
      const small = tf.image.resizeBilinear(square, [detectorInputPixels, detectorInputPixels]);
      const input = tf.div(tf.sub(small, tf.tensor1d([...meanColour])), 255);
      return this.#run(tf.expandDims<tf.Tensor4D>(input, 0)).dataSync<"float32">();
    });
    return withoutBackground(decodeFaces(values, side));
  }

  #weight<T extends tf.Tensor>(name: string): T {
    const tensor = this.#weights[name];
    if (tensor === undefined) throw new Error(`The detector has no ${name}`);
    return tensor as T;
  }

  #run(input: tf.Tensor4D): tf.Tensor {
    const halved = (x: tf.Tensor4D, stride = 2) => tf.maxPool(x, 2, stride, "same");
    const first = tf.conv2d(input, this.#weight<tf.Tensor4D>("conv0/filters"), 1, "valid");
    let x = halved(tf.leakyRelu(tf.add(first, this.#weight("conv0/bias")), leakySlope));
    for (const layer of separableLayers) {
      const next = tf.separableConv2d(
        x,
        this.#weight<tf.Tensor4D>(`${layer}/depthwise_filter`),
        this.#weight<tf.Tensor4D>(`${layer}/pointwise_filter`),
        1,
        "same",
      );
      x = halved(
        tf.leakyRelu(tf.add(next, this.#weight(`${layer}/bias`)), leakySlope),
        layer === separableLayers.at(-1) ? 1 : 2,
      );
    }
    const last = tf.conv2d(x, this.#weight<tf.Tensor4D>("conv8/filters"), 1, "valid");
    return tf.add(last, this.#weight("conv8/bias"));
  }
}
