import type { Box } from "@assay/face/measurement";
import meshWeights from "@assay/face/networks/facemesh.bin?url";
import meshGraph from "@assay/face/networks/facemesh.json?url";
import finderWeights from "@assay/face/networks/tiny_face_detector_model.bin?url";
import finderManifest from "@assay/face/networks/tiny_face_detector_model-weights_manifest.json";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import plainWasm from "@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url";
import simdWasm from "@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url";
import { type GraphModel, loadGraphModel } from "@tensorflow/tfjs-converter";
import * as tf from "@tensorflow/tfjs-core";
import { FaceFinder } from "./find-faces.ts";
import type { Sight } from "./framing.ts";
import type { GuideAnswer } from "./guide-answer.ts";
import { measureFace } from "./measure-face.ts";

// Everything runs on this device and is forgotten with the next picture; nothing of it is sent anywhere.

/**
 * Looks between two runs of the face finder. In between the mesh tracks the face, which is faster. Set by
 * hand. Fewer: more time for the finder. More: a second person is noticed only after two seconds.
 */
const looksBetweenFinding = 4;

async function fetched(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
  return response;
}

async function loadMesh(): Promise<GraphModel> {
  const [graph, weightData] = await Promise.all([
    fetched(meshGraph).then((response) => response.json()),
    fetched(meshWeights).then((response) => response.arrayBuffer()),
  ]);
  return await loadGraphModel({
    load: async () => ({
      modelTopology: graph.modelTopology,
      format: graph.format,
      signature: graph.signature,
      weightSpecs: graph.weightsManifest.flatMap(
        (group: { weights: tf.io.WeightsManifestEntry[] }) => group.weights,
      ),
      weightData,
    }),
  });
}

async function loadGuide(): Promise<(picture: ImageData) => Sight> {
  setWasmPaths({
    "tfjs-backend-wasm.wasm": plainWasm,
    "tfjs-backend-wasm-simd.wasm": simdWasm,
    // Never loaded: it needs memory shared between threads, which this page does not have.
    "tfjs-backend-wasm-threaded-simd.wasm": simdWasm,
  });
  const [mesh, weights] = await Promise.all([
    (async () => {
      if (!(await tf.setBackend("wasm"))) throw new Error("There is no WebAssembly here");
      return await loadMesh();
    })(),
    fetched(finderWeights).then((response) => response.arrayBuffer()),
  ]);
  const finder = new FaceFinder(finderManifest as { weights: tf.io.WeightsManifestEntry[] }[], weights);
  let around: Box | null = null;
  let faces = 0;
  let sinceFinding = 0;

  return (picture) => {
    const tensor = tf.tidy(() => tf.cast(tf.browser.fromPixels(picture), "float32")) as tf.Tensor3D;
    try {
      sinceFinding += 1;
      if (around === null || sinceFinding >= looksBetweenFinding) {
        const found = finder.find(tensor);
        sinceFinding = 0;
        faces = found.length;
        if (around === null && found[0] !== undefined)
          // The finder's box is rough; the mesh gives the exact position.
          around = measureFace(mesh, tensor, found[0])?.box ?? null;
      }
      const measured = around === null ? null : measureFace(mesh, tensor, around);
      around = measured?.box ?? null;
      if (measured === null) return { faces: 0, face: null };
      return {
        faces: Math.max(1, faces),
        face: { ...measured.face, brightness: brightnessOf(picture, measured.box) },
      };
    } finally {
      tensor.dispose();
    }
  };
}

/** Mean brightness of the middle of the face, which is skin in every pose. */
function brightnessOf({ data, width, height }: ImageData, box: Box): number {
  let [sum, count] = [0, 0];
  const from = (start: number, length: number) => Math.round(Math.max(0, start + length * 0.25));
  const to = (start: number, length: number, most: number) => Math.min(most, start + length * 0.75);
  for (let y = from(box.y, box.height); y < to(box.y, box.height, height); y += 2)
    for (let x = from(box.x, box.width); x < to(box.x, box.width, width); x += 2) {
      const at = (y * width + x) * 4;
      sum += 0.2126 * (data[at] ?? 0) + 0.7152 * (data[at + 1] ?? 0) + 0.0722 * (data[at + 2] ?? 0);
      count += 1;
    }
  return count === 0 ? 0 : sum / count / 255;
}

const answer = (message: GuideAnswer) => self.postMessage(message);
const loading = loadGuide().then((look) => {
  // The first look takes longer than any other, and says nothing about the speed.
  look(new ImageData(240, 320));
  return look;
});
loading.then(
  () => answer({ kind: "ready" }),
  () => answer({ kind: "failed" }),
);
self.onmessage = async (event: MessageEvent<ImageData>) => {
  try {
    answer({ kind: "sight", sight: (await loading)(event.data) });
  } catch {
    answer({ kind: "failed" });
  }
};
