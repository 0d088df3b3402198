import { readFileSync } from "node:fs";
import type { Weights } from "./onnx-graph.ts";

/** The layout of a network's weights in its file, in the terms of TensorFlow.js. */
export type Manifest = readonly {
  readonly weights: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly dtype: string;
    readonly quantization?: { readonly dtype: string; readonly scale?: number; readonly min?: number };
  }[];
}[];

export type StoredWeights = (name: string) => Weights;

/** Every number becomes a float of four bytes, however it is stored. */
export function openWeights(manifest: Manifest, file: URL): StoredWeights {
  const bytes = readFileSync(file);
  const found = new Map<string, Weights>();
  let at = 0;
  for (const { name, shape, dtype, quantization } of manifest.flatMap((group) => group.weights)) {
    const count = shape.reduce((size, side) => size * side, 1);
    const stored = quantization?.dtype ?? dtype;
    const width = { uint8: 1, float16: 2, float32: 4, int32: 4 }[stored];
    if (width === undefined) throw new Error(`${name} is stored as ${stored}, which is not known here`);
    found.set(name, {
      shape,
      values: valuesIn(bytes.subarray(at, at + count * width), stored, quantization),
    });
    at += count * width;
  }
  if (at !== bytes.length)
    throw new Error(`${file.pathname} does not have the length that its manifest states`);
  return (name) => {
    const weights = found.get(name);
    if (weights === undefined) throw new Error(`${file.pathname} has no ${name}`);
    return weights;
  };
}

function valuesIn(
  bytes: Uint8Array,
  stored: string,
  { scale = 1, min = 0 }: { readonly scale?: number; readonly min?: number } = {},
): Float32Array {
  if (stored === "uint8") {
    const values = new Float32Array(bytes.length);
    for (let index = 0; index < bytes.length; index++) values[index] = (bytes[index] ?? 0) * scale + min;
    return values;
  }
  // A copy, because the offset in the file is not aligned.
  const { buffer } = new Uint8Array(bytes);
  if (stored === "float16") return Float32Array.from(new Float16Array(buffer));
  return stored === "int32" ? Float32Array.from(new Int32Array(buffer)) : new Float32Array(buffer);
}
