import type { Box } from "@assay/face/measurement";
import {
  extentOf,
  meshInputPixels,
  meshLeastConfidence,
  openingsOf,
  poseOf,
  squareAround,
} from "@assay/face/mesh-geometry";
import type { GraphModel } from "@tensorflow/tfjs-converter";
import * as tf from "@tensorflow/tfjs-core";
import type { SeenFace } from "./framing.ts";

type Measured = { readonly face: Omit<SeenFace, "brightness">; readonly box: Box };

/**
 * Position and pose of a face, by the same mesh as on the service. `box` may be that of the previous frame.
 */
export function measureFace(mesh: GraphModel, picture: tf.Tensor3D, box: Box): Measured | null {
  const [height, width] = picture.shape;
  const around = squareAround(box);
  const [left, top] = [around.x - around.side / 2, around.y - around.side / 2];
  const [right, bottom] = [left + around.side, top + around.side];
  const { values, confidence } = tf.tidy(() => {
    const crop = tf.image.cropAndResize(
      tf.expandDims<tf.Tensor4D>(picture, 0),
      [[top / (height - 1), left / (width - 1), bottom / (height - 1), right / (width - 1)]],
      [0],
      [meshInputPixels, meshInputPixels],
    );
    const [found, flag] = mesh.execute(tf.div(crop, 255), ["output_mesh", "output_faceflag"]) as tf.Tensor[];
    return { values: found?.dataSync() ?? [], confidence: flag?.dataSync()[0] ?? 0 };
  });
  if (!(confidence >= meshLeastConfidence)) return null;
  const face = extentOf(values, around);
  const pose = poseOf(values, around);
  return {
    box: face,
    face: {
      ...pose,
      ...openingsOf(values),
      x: (face.x + face.width / 2) / width,
      y: (face.y + face.height / 2) / height,
      size: pose.size / height,
    },
  };
}
