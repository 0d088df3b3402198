import type { GraphModel } from "@tensorflow/tfjs-converter";
import * as tf from "@tensorflow/tfjs-core";
import type { Box } from "./find-faces.ts";
import type { SeenFace } from "./framing.ts";

const inputPixels = 192;
/** The mesh wants some of what is around the face. */
const margin = 1.5;
const leastConfidence = 0.5;
/** Points of the mesh: both sides of the face at the height of the ears, its upper end and the chin. */
const points = { count: 468, right: 234, left: 454, top: 10, chin: 152 } as const;

type Vector = readonly [number, number, number];

export type Measured = { readonly face: Omit<SeenFace, "brightness">; readonly box: Box };

/** Where a face is and how it is held, by the same mesh as on the service. `box` may be of the frame before. */
export function measureFace(mesh: GraphModel, picture: tf.Tensor3D, box: Box): Measured | null {
  const [height, width] = picture.shape;
  const side = Math.max(box.width, box.height) * margin;
  const left = box.x + box.width / 2 - side / 2;
  const top = box.y + box.height / 2 - side / 2;
  const { values, confidence } = tf.tidy(() => {
    const crop = tf.image.cropAndResize(
      tf.expandDims<tf.Tensor4D>(picture, 0),
      [[top / (height - 1), left / (width - 1), (top + side) / (height - 1), (left + side) / (width - 1)]],
      [0],
      [inputPixels, inputPixels],
    );
    const [found, flag] = mesh.execute(tf.div(crop, 255), ["output_mesh", "output_faceflag"]) as tf.Tensor[];
    return { values: found?.dataSync() ?? [], confidence: flag?.dataSync()[0] ?? 0 };
  });
  if (!(confidence >= leastConfidence)) return null;

  const at = (index: number): Vector => [
    values[index * 3] ?? 0,
    values[index * 3 + 1] ?? 0,
    values[index * 3 + 2] ?? 0,
  ];
  const between = (from: Vector, to: Vector): Vector => [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const degrees = (y: number, x: number) => (Math.atan2(y, x) * 180) / Math.PI;
  const across = between(at(points.right), at(points.left));
  const down = between(at(points.top), at(points.chin));
  let [fromX, toX, fromY, toY] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let index = 0; index < points.count; index++) {
    const [x, y] = at(index);
    [fromX, toX] = [Math.min(fromX, x), Math.max(toX, x)];
    [fromY, toY] = [Math.min(fromY, y), Math.max(toY, y)];
  }
  const scale = side / inputPixels;
  const extent: Box = {
    x: left + fromX * scale,
    y: top + fromY * scale,
    width: (toX - fromX) * scale,
    height: (toY - fromY) * scale,
  };
  return {
    box: extent,
    face: {
      x: (extent.x + extent.width / 2) / width,
      y: (extent.y + extent.height / 2) / height,
      size: (Math.hypot(...down) * scale) / height,
      yaw: degrees(across[2], across[0]),
      pitch: -degrees(down[2], down[1]),
      roll: degrees(across[1], across[0]),
    },
  };
}
