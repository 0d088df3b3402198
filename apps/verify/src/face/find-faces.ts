import * as tf from "@tensorflow/tfjs-core";

/** In pixels of the picture. */
export type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};
type Found = Box & { readonly score: number };

/** The tiny detector of face-api: what its weights were trained with. */
const inputPixels = 224;
const meanColour = [117.001, 114.697, 97.404] as const;
const leakySlope = 0.1;
const separableLayers = ["conv1", "conv2", "conv3", "conv4", "conv5"] as const;
/** Width and height of the boxes that it starts from, in cells. */
const anchors = [
  [1.603231, 2.094468],
  [6.041143, 7.080126],
  [2.882459, 3.518061],
  [4.266906, 5.178857],
  [9.041765, 10.66308],
] as const;
const valuesPerAnchor = 5;

/** As on the service, so that both count the same faces. */
const leastScore = 0.4;
const mostOverlap = 0.4;
const rivalSizeShare = 0.4;

const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));

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
      const small = tf.image.resizeBilinear(square, [inputPixels, inputPixels]);
      const input = tf.div(tf.sub(small, tf.tensor1d([...meanColour])), 255);
      return this.#run(tf.expandDims<tf.Tensor4D>(input, 0)).dataSync();
    });
    const cells = Math.round(Math.sqrt(values.length / (anchors.length * valuesPerAnchor)));
    const found: Found[] = [];
    for (let cell = 0; cell < cells * cells; cell++)
      for (const [index, [anchorWidth, anchorHeight]] of anchors.entries()) {
        const from = (cell * anchors.length + index) * valuesPerAnchor;
        const [x = 0, y = 0, w = 0, h = 0, s = 0] = values.subarray(from, from + valuesPerAnchor);
        const score = sigmoid(s);
        if (score < leastScore) continue;
        const boxWidth = (Math.exp(w) * anchorWidth * side) / cells;
        const boxHeight = (Math.exp(h) * anchorHeight * side) / cells;
        found.push({
          x: (((cell % cells) + sigmoid(x)) * side) / cells - boxWidth / 2,
          y: ((Math.floor(cell / cells) + sigmoid(y)) * side) / cells - boxHeight / 2,
          width: boxWidth,
          height: boxHeight,
          score,
        });
      }
    return withoutRepeats(found);
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

/** Of boxes around one face only the surest is left; a face in the background counts for nothing. */
function withoutRepeats(found: Found[]): Box[] {
  const kept: Found[] = [];
  for (const box of found.sort((a, b) => b.score - a.score))
    if (kept.every((other) => overlapOf(box, other) <= mostOverlap)) kept.push(box);
  kept.sort((a, b) => b.width - a.width);
  return kept.filter((box) => box.width >= rivalSizeShare * (kept[0]?.width ?? 0));
}

function overlapOf(a: Box, b: Box): number {
  const across = Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x));
  const along = Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));
  const both = across * along;
  return both / (a.width * a.height + b.width * b.height - both);
}
