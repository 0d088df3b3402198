import { readFileSync } from "node:fs";
import { chipPixels } from "@assay/face/face-chip";
import { detectorInputPixels } from "@assay/face/find-faces";
import { meshInputPixels } from "@assay/face/mesh-geometry";
import { OnnxGraph, type Padding, type Value } from "./onnx-graph.ts";
import { type Manifest, openWeights, type StoredWeights } from "./stored-weights.ts";

/**
 * The networks of the face step in ONNX, made from the published weights. The layers are those of the source
 * packages (`packages/face/networks/README.md`); scaling is folded into convolutions.
 */

export const landmarkInputPixels = 112;

const folder = new URL(".", import.meta.resolve("@assay/face/networks/facemesh.json"));

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, folder), "utf8")) as T;
}

function weightsOf(name: string): StoredWeights {
  return openWeights(read<Manifest>(`${name}-weights_manifest.json`), new URL(`${name}.bin`, folder));
}

const detectorSlope = 0.1;

/** Finds faces. Its output `boxes` is what `decodeFaces` reads. */
export function detectorNetwork(): Uint8Array {
  const weights = weightsOf("tiny_face_detector_model");
  const graph = new OnnxGraph({ channels: 3, side: detectorInputPixels });
  const first = graph.conv(graph.input, weights("conv0/filters"), {
    bias: weights("conv0/bias").values,
    padding: "valid",
  });
  let x = graph.maxPool(graph.leakyRelu(first, detectorSlope), 2, 2, "same");
  for (const layer of ["conv1", "conv2", "conv3", "conv4", "conv5"]) {
    x = graph.leakyRelu(separable(graph, weights, x, layer, 1), detectorSlope);
    x = graph.maxPool(x, 2, layer === "conv5" ? 1 : 2, "same");
  }
  const boxes = graph.conv(x, weights("conv8/filters"), {
    bias: weights("conv8/bias").values,
    padding: "valid",
  });
  graph.output(boxes, "boxes", { byPlace: true });
  return graph.bytes();
}

function separable(graph: OnnxGraph, weights: StoredWeights, x: Value, layer: string, stride: number): Value {
  const spread = graph.depthwise(x, weights(`${layer}/depthwise_filter`), { stride, padding: "same" });
  return graph.conv(spread, weights(`${layer}/pointwise_filter`), {
    bias: weights(`${layer}/bias`).values,
    padding: "valid",
  });
}

/** The 68 points of a face. Its output `points` has x and y of each, as shares of the picture. */
export function landmarkNetwork(): Uint8Array {
  const weights = weightsOf("face_landmark_68_model");
  const graph = new OnnxGraph({ channels: 3, side: landmarkInputPixels });
  let x = graph.input;
  for (const block of ["dense0", "dense1", "dense2", "dense3"]) {
    const first =
      block === "dense0"
        ? graph.conv(x, weights(`${block}/conv0/filters`), {
            bias: weights(`${block}/conv0/bias`).values,
            stride: 2,
            padding: "same",
          })
        : separable(graph, weights, x, `${block}/conv0`, 2);
    let sum = graph.relu(first);
    x = sum;
    // Each layer gets the outputs of all layers before it (a dense block).
    for (const layer of ["conv1", "conv2", "conv3"]) {
      sum = graph.add(sum, separable(graph, weights, x, `${block}/${layer}`, 1));
      x = graph.relu(sum);
    }
  }
  const pooled = graph.averagePool(x, 7, 2);
  const { shape, values } = weights("fc/weights");
  const [inputs = 1, outputs = 1] = shape;
  const points = graph.conv(
    pooled,
    { shape: [1, 1, inputs, outputs], values },
    { bias: weights("fc/bias").values, padding: "valid" },
  );
  graph.output(points, "points");
  return graph.bytes();
}

/** Distinguishes people. Its output `embedding` has 128 numbers. */
export function recognitionNetwork(): Uint8Array {
  const weights = weightsOf("face_recognition_model");
  const graph = new OnnxGraph({ channels: 3, side: chipPixels });
  const scaled = (x: Value, layer: string, stride: number, padding: Padding) => {
    const scale = weights(`${layer}/scale/weights`).values;
    const after = weights(`${layer}/scale/biases`).values;
    const bias = weights(`${layer}/conv/bias`).values.map(
      (value, channel) => value * (scale[channel] ?? 1) + (after[channel] ?? 0),
    );
    return graph.conv(x, weights(`${layer}/conv/filters`), { bias, scale, stride, padding });
  };
  let x = graph.relu(scaled(graph.input, "conv32_down", 2, "valid"));
  x = graph.maxPool(x, 3, 2, "valid");
  for (const block of recognitionBlocks) {
    const down = block.includes("down");
    const inner = graph.relu(scaled(x, `${block}/conv1`, down ? 2 : 1, down ? "valid" : "same"));
    const outer = scaled(inner, `${block}/conv2`, 1, "same");
    const past = down ? graph.averagePool(x, 2, 2) : x;
    // A block that halves the picture has more channels than its shortcut, and sometimes one row and column
    // less. Zeros fill the difference.
    const common = {
      channels: Math.max(outer.channels, past.channels),
      height: Math.max(outer.height, past.height),
      width: Math.max(outer.width, past.width),
    };
    x = graph.relu(graph.add(graph.grow(past, common), graph.grow(outer, common)));
  }
  const { shape, values } = weights("fc");
  const [inputs = 1, outputs = 1] = shape;
  const last = { shape: [1, 1, inputs, outputs], values };
  graph.output(graph.conv(graph.mean(x), last, { padding: "valid" }), "embedding");
  return graph.bytes();
}

const recognitionBlocks = [
  ...["conv32_1", "conv32_2", "conv32_3"],
  ...["conv64_down", "conv64_1", "conv64_2", "conv64_3"],
  ...["conv128_down", "conv128_1", "conv128_2"],
  ...["conv256_down", "conv256_1", "conv256_2", "conv256_down_out"],
];

/** A graph of TensorFlow.js, as far as the mesh uses it. */
type GraphFile = {
  readonly modelTopology: {
    readonly node: readonly {
      readonly name: string;
      readonly op: string;
      readonly input?: readonly string[];
      readonly attr?: Readonly<
        Record<string, { readonly s?: string; readonly list?: { i?: string[]; s?: string[] } }>
      >;
    }[];
  };
  readonly weightsManifest: Manifest;
};
type GraphNode = GraphFile["modelTopology"]["node"][number];

/**
 * The face mesh. `points`: three values for each of 468 points, in pixels of the input. `confidence`: how
 * sure it is that the input contains a face.
 */
export function meshNetwork(): Uint8Array {
  const file = read<GraphFile>("facemesh.json");
  const weights = openWeights(file.weightsManifest, new URL("facemesh.bin", folder));
  const nodes = new Map(file.modelTopology.node.map((node) => [node.name, node]));
  const graph = new OnnxGraph({ channels: 3, side: meshInputPixels });
  const made = new Map<string, Value>();
  // Visits only what the two outputs need: the contours of eyes and mouth are left out with all their layers.
  const layerAt = (name: string): Value => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const node = nodes.get(name);
    if (node === undefined) throw new Error(`The mesh has no ${name}`);
    const value = meshLayer(graph, node, weights, layerAt);
    made.set(name, value);
    return value;
  };
  graph.output(layerAt("Identity_2"), "points", { byPlace: true });
  graph.output(layerAt("Identity_1"), "confidence");
  return graph.bytes();
}

function meshLayer(
  graph: OnnxGraph,
  { name, op, input = [], attr = {} }: GraphNode,
  weights: StoredWeights,
  layerAt: (name: string) => Value,
): Value {
  const [first = "", second = "", third = "", fourth = ""] = input;
  const text = (coded: string | undefined) => Buffer.from(coded ?? "", "base64").toString();
  const stride = Number(attr.strides?.list?.i?.[1] ?? 1);
  const padding: Padding = text(attr.padding?.s) === "SAME" ? "same" : "valid";
  switch (op) {
    case "Placeholder":
      return graph.input;
    case "_FusedConv2D": {
      const options = { bias: weights(third).values, stride, padding };
      const value = graph.conv(layerAt(first), weights(second), options);
      const sloped = attr.fused_ops?.list?.s?.map(text).includes("Prelu");
      return sloped ? graph.parametricRelu(value, weights(fourth).values) : value;
    }
    case "DepthwiseConv2dNative":
      return graph.depthwise(layerAt(first), weights(second), { stride, padding });
    case "AddV2":
      return graph.add(layerAt(first), layerAt(second));
    case "Prelu":
      return graph.parametricRelu(layerAt(first), weights(second).values);
    case "MaxPool":
      return graph.maxPool(layerAt(first), Number(attr.ksize?.list?.i?.[1] ?? 1), stride, padding);
    case "Pad": {
      const value = layerAt(first);
      const after = weights(second).values.at(-1) ?? 0;
      return graph.grow(value, { ...value, channels: value.channels + after });
    }
    case "Sigmoid":
      return graph.sigmoid(layerAt(first));
    case "Reshape":
    case "Identity":
      return layerAt(first);
    default:
      throw new Error(`The mesh has a layer that is not known here: ${name}, ${op}`);
  }
}
