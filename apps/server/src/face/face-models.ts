import { readFileSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import path from "node:path";
import { detectorInputPixels, detectorLeastScore, withoutBackground } from "@assay/face/find-faces";
import type { Box, FaceMeasurement, Light } from "@assay/face/measurement";
import {
  extentOf,
  meshInputPixels,
  meshLeastConfidence,
  poseOf,
  type Square,
  squareAround,
} from "@assay/face/mesh-geometry";
import type * as TensorflowConverter from "@tensorflow/tfjs-converter";
import type * as TensorflowCore from "@tensorflow/tfjs-core";
import type { Picture } from "./decode-picture.ts";

type Tensorflow = typeof TensorflowCore & typeof TensorflowConverter;
type Tensor3D = TensorflowCore.Tensor3D;

type Detection = {
  readonly score: number;
  readonly box: Box;
};

type Landmarks = {
  align(): Box;
};

type Network = {
  loadFromDisk(folder: string): Promise<void>;
};

/** The part of face-api that is used here; its own types want a browser's. */
type FaceApi = {
  readonly nets: Readonly<Record<"tinyFaceDetector" | "faceLandmark68Net" | "faceRecognitionNet", Network>>;
  readonly TinyFaceDetectorOptions: new (options: { inputSize: number; scoreThreshold: number }) => object;
  detectAllFaces(input: Tensor3D, options: object): PromiseLike<readonly Detection[]>;
  readonly Rect: new (x: number, y: number, width: number, height: number) => Box;
  extractFaceTensors(input: Tensor3D, rectangles: readonly Box[]): Promise<Tensor3D[]>;
  detectFaceLandmarks(input: Tensor3D): Promise<Landmarks>;
  computeFaceDescriptor(input: Tensor3D): Promise<Float32Array>;
};

export type FaceModels = {
  /** Every face in the picture, the largest first. */
  detect(picture: Picture): Promise<readonly Box[]>;
  /** `near` is where the face was in the picture before, when it was in one: looking there first is quicker. */
  measure(picture: Picture, box: Box, near?: Box): FaceMeasurement | null;
  embed(picture: Picture, box: Box): Promise<readonly number[]>;
};

const require = createRequire(import.meta.url);

/** Of a file inside a package that does not export it. */
function packageFolder(name: string): string {
  for (const base of require.resolve.paths(name) ?? []) {
    const folder = path.join(base, name);
    try {
      readFileSync(path.join(folder, "package.json"));
      return folder;
    } catch {
      // Looked for one folder further up.
    }
  }
  throw new Error(`The package ${name} is not installed`);
}

/**
 * face-api asks for the whole of TensorFlow.js, with its trainer, its data loaders and its graphics backend. The core, the converter
 * and the WebAssembly backend are all it uses, so it is given these under that name. The whole package would also
 * make every operation a method of tensors, which is done here.
 */
async function loadTensorflow(): Promise<Tensorflow> {
  const core = require("@tensorflow/tfjs-core") as typeof TensorflowCore;
  const converter = require("@tensorflow/tfjs-converter") as typeof TensorflowConverter;
  const wasm = require("@tensorflow/tfjs-backend-wasm") as { setWasmPaths(folder: string): void };
  const tensorflow = { ...core, ...converter, ...wasm } as unknown as Tensorflow;
  const methods = core.Tensor.prototype as unknown as Record<string, unknown>;
  const reshape = core.reshape;
  type This = TensorflowCore.Tensor;
  const shapes: Record<string, (this: This, ...shape: number[]) => unknown> = {
    as1D() {
      return reshape(this, [this.size]);
    },
    as2D(...shape) {
      return reshape(this, shape);
    },
    as3D(...shape) {
      return reshape(this, shape);
    },
    as4D(...shape) {
      return reshape(this, shape);
    },
    toInt() {
      return core.cast(this, "int32");
    },
    toFloat() {
      return core.cast(this, "float32");
    },
  };
  for (const [name, method] of Object.entries(shapes)) methods[name] ??= method;
  for (const [name, operation] of Object.entries(core)) {
    if (typeof operation !== "function" || !/^[a-z]/.test(name) || name in methods) continue;
    const call = operation as (...values: unknown[]) => unknown;
    methods[name] = function (this: This, ...values: unknown[]) {
      return call(this, ...values);
    };
  }
  const shared = "assay:tensorflow";
  (globalThis as Record<string, unknown>)[shared] = tensorflow;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "@tensorflow/tfjs"
        ? { url: shared, format: "commonjs", shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url === shared
        ? { format: "commonjs", source: `module.exports = globalThis["${shared}"]`, shortCircuit: true }
        : next(url, context),
  });
  wasm.setWasmPaths(`${path.join(packageFolder("@tensorflow/tfjs-backend-wasm"), "dist")}${path.sep}`);
  if (!(await tensorflow.setBackend("wasm"))) throw new Error("The WebAssembly backend did not start");
  await tensorflow.ready();
  return tensorflow;
}

type GraphFile = {
  readonly modelTopology: object;
  readonly format: string;
  readonly signature: object;
  readonly weightsManifest: readonly { readonly weights: TensorflowCore.io.WeightsManifestEntry[] }[];
};

function loadGraph(tensorflow: Tensorflow, file: string): Promise<TensorflowConverter.GraphModel> {
  const graph = JSON.parse(readFileSync(`${file}.json`, "utf8")) as GraphFile;
  const weights = readFileSync(`${file}.bin`);
  return tensorflow.loadGraphModel({
    load: async () => ({
      modelTopology: graph.modelTopology,
      format: graph.format,
      signature: graph.signature as never,
      weightSpecs: graph.weightsManifest.flatMap((group) => group.weights),
      weightData: new Uint8Array(weights).buffer,
    }),
  });
}

/** Of the longer side, around a picture that a face may fill. By hand. Half: a face that comes closer is lost. Twice: the face is small again, and the detector less sure. */
const fillingMarginShare = 0.3;
const middleGrey = 128;
/**
 * A mesh whose face is off what it was shown by more than this share of it is not exact enough to tell a pose from. By hand. Half: more second looks, about 10 ms each. Twice: the pose
 * of a moving head is less exact (not measured).
 */
const meshShiftShare = 0.03;
/** The face mesh of a square part of the picture, and how sure the network is that a face is there. */
function runMesh(
  tf: Awaited<ReturnType<typeof loadTensorflow>>,
  meshNetwork: Awaited<ReturnType<typeof loadGraph>>,
  picture: Picture,
  around: Square,
): { points: Float32Array; confidence: number } {
  const step = around.side / (meshInputPixels - 1);
  const pixels = samplePicture(picture, meshInputPixels, {
    left: around.x - around.side / 2,
    top: around.y - around.side / 2,
    step,
    outside: () => 0,
  });
  return tf.tidy(() => {
    const input = tf.tensor4d(pixels, [1, meshInputPixels, meshInputPixels, 3]);
    const [points, confidence] = meshNetwork.execute(tf.div(input, 255), [
      "output_mesh",
      "output_faceflag",
    ]) as TensorflowCore.Tensor[];
    return {
      points: points?.dataSync() as Float32Array,
      confidence: Number(confidence?.dataSync()[0] ?? 0),
    };
  });
}

/** Everything is read from packages on disk; nothing is ever fetched. */
export async function loadFaceModels(): Promise<FaceModels> {
  const tf = await loadTensorflow();
  const faceApi = require("@vladmandic/face-api/dist/face-api.node-wasm.js") as FaceApi;
  const folder = path.join(packageFolder("@vladmandic/face-api"), "model");
  const { tinyFaceDetector, faceLandmark68Net, faceRecognitionNet } = faceApi.nets;
  for (const network of [tinyFaceDetector, faceLandmark68Net, faceRecognitionNet])
    await network.loadFromDisk(folder);
  const meshNetwork = await loadGraph(
    tf,
    path.join(packageFolder("@vladmandic/human"), "models", "facemesh"),
  );

  const detector = new faceApi.TinyFaceDetectorOptions({
    inputSize: detectorInputPixels,
    scoreThreshold: detectorLeastScore,
  });
  const tensorOf = ({ rgb, width, height }: Picture) =>
    tf.tensor3d(Int32Array.from(rgb), [height, width, 3], "int32");

  const mesh = (picture: Picture, around: Square) => runMesh(tf, meshNetwork, picture, around);

  /** With a grey margin of so many pixels around the picture. The network is shown a square; black fills it up. */
  async function find(picture: Picture, margin: number): Promise<Box[]> {
    const [width, height] = [picture.width + 2 * margin, picture.height + 2 * margin];
    const step = Math.max(width, height) / detectorInputPixels;
    const pixels = samplePicture(picture, detectorInputPixels, {
      left: -margin,
      top: -margin,
      step,
      outside: (x, y) => (x < picture.width + margin && y < picture.height + margin ? middleGrey : 0),
    });
    const input = tf.tensor3d(pixels, [detectorInputPixels, detectorInputPixels, 3]);
    try {
      return (await faceApi.detectAllFaces(input, detector)).map(({ box }) => ({
        x: box.x * step - margin,
        y: box.y * step - margin,
        width: box.width * step,
        height: box.height * step,
      }));
    } finally {
      input.dispose();
    }
  }

  async function cut(picture: Tensor3D, { x, y, width, height }: Box): Promise<Tensor3D> {
    const [face] = await faceApi.extractFaceTensors(picture, [new faceApi.Rect(x, y, width, height)]);
    if (face === undefined) throw new Error("The face has no area");
    return face;
  }

  return {
    async detect(picture) {
      const seen = await find(picture, 0);
      // The detector does not know faces that fill the picture, as they do when somebody comes closer; with a margin it does.
      const margin = Math.round(Math.max(picture.width, picture.height) * fillingMarginShare);
      return withoutBackground(seen.length > 0 ? seen : await find(picture, margin));
    },

    measure(picture, box, near) {
      // The detector's box is rough, and a face moves: the first pass tells where the face really is for the second.
      const first = squareAround(near !== undefined && isWithin(middleOf(box), near) ? near : box);
      const seen = mesh(picture, first);
      const around = squareAround(extentOf(seen.points, first));
      const still = isAlike(first, around);
      const { points, confidence } = still ? seen : mesh(picture, around);
      if (!(confidence >= meshLeastConfidence)) return null;
      const shown = still ? first : around;
      const face = extentOf(points, shown);
      return { box: face, ...poseOf(points, shown), ...lightOf(picture, face) };
    },

    async embed(picture, box) {
      const tensor = tensorOf(picture);
      try {
        const face = await cut(tensor, box);
        let aligned: Box;
        try {
          aligned = (await faceApi.detectFaceLandmarks(face)).align();
        } finally {
          face.dispose();
        }
        const straight = await cut(tensor, {
          x: aligned.x + Math.max(box.x, 0),
          y: aligned.y + Math.max(box.y, 0),
          width: aligned.width,
          height: aligned.height,
        });
        try {
          return Array.from(await faceApi.computeFaceDescriptor(straight));
        } finally {
          straight.dispose();
        }
      } finally {
        tensor.dispose();
      }
    },
  };
}

function middleOf({ x, y, width, height }: Box): readonly [x: number, y: number] {
  return [x + width / 2, y + height / 2];
}

function isWithin([x, y]: readonly [number, number], box: Box): boolean {
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

function isAlike(one: Square, other: Square): boolean {
  const most = one.side * meshShiftShare;
  return (
    Math.abs(one.x - other.x) <= most &&
    Math.abs(one.y - other.y) <= most &&
    Math.abs(one.side - other.side) <= most
  );
}

/**
 * A square of the picture at another size, between the pixels by the four around. Done here and not by TensorFlow, which would have to be
 * given the whole picture as numbers of four bytes first.
 */
function samplePicture(
  { rgb, width, height }: Picture,
  size: number,
  from: {
    readonly left: number;
    readonly top: number;
    readonly step: number;
    readonly outside: (x: number, y: number) => number;
  },
): Float32Array {
  const pixels = new Float32Array(size * size * 3);
  for (let row = 0; row < size; row++) {
    const y = from.top + row * from.step;
    const [y0, v] = [Math.floor(y), y - Math.floor(y)];
    for (let column = 0; column < size; column++) {
      const x = from.left + column * from.step;
      const to = (row * size + column) * 3;
      if (x < 0 || y < 0 || x > width - 1 || y > height - 1) {
        pixels.fill(from.outside(x, y), to, to + 3);
        continue;
      }
      const [x0, u] = [Math.floor(x), x - Math.floor(x)];
      const here = (y0 * width + x0) * 3;
      const right = x0 + 1 < width ? 3 : 0;
      const below = y0 + 1 < height ? width * 3 : 0;
      for (let channel = 0; channel < 3; channel++) {
        const at = here + channel;
        const upper = (rgb[at] ?? 0) * (1 - u) + (rgb[at + right] ?? 0) * u;
        const lower = (rgb[at + below] ?? 0) * (1 - u) + (rgb[at + below + right] ?? 0) * u;
        pixels[to + channel] = upper * (1 - v) + lower * v;
      }
    }
  }
  return pixels;
}

const linearOf = Float64Array.from({ length: 256 }, (_, value) => {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
});

/** Fewer pixels than this part of the picture are no measurement. By hand; neither half nor twice was tried. */
const leastAreaShare = 0.005;

/** The middle of the face is skin in every pose; hair and clothes are neither face nor far away, so a margin around it counts as nothing. */
function lightOf(
  { rgb, width, height }: Picture,
  box: Box,
): { readonly faceLight: Light; readonly surroundingLight: Light | null } {
  const face = [0, 0, 0, 0];
  const surrounding = [0, 0, 0, 0];
  const step = Math.max(1, Math.round(Math.sqrt((width * height) / 40_000)));
  for (let y = 0; y < height; y += step) {
    for (let x = 0; x < width; x += step) {
      const across = Math.abs((x - box.x) / box.width - 0.5);
      const along = Math.abs((y - box.y) / box.height - 0.5);
      const sum = across < 0.3 && along < 0.35 ? face : across > 0.75 || along > 0.85 ? surrounding : null;
      if (sum === null) continue;
      for (let channel = 0; channel < 3; channel++)
        sum[channel] = (sum[channel] ?? 0) + (linearOf[rgb[(y * width + x) * 3 + channel] ?? 0] ?? 0);
      sum[3] = (sum[3] ?? 0) + 1;
    }
  }
  const mean = ([red = 0, green = 0, blue = 0, count = 1]: number[]): Light => [
    red / count,
    green / count,
    blue / count,
  ];
  const enough = ([, , , count = 0]: number[]) => count * step * step >= leastAreaShare * width * height;
  return {
    faceLight: enough(face) ? mean(face) : [0, 0, 0],
    surroundingLight: enough(surrounding) ? mean(surrounding) : null,
  };
}
