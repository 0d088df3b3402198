import { chipPixels } from "@assay/face/face-chip";
import type { Box } from "@assay/face/measurement";
import type { DecodedPicture } from "../../src/verification/face/decode-picture.ts";
import { recognitionMean } from "../../src/verification/face/face-models.ts";
import { FaceNetwork } from "../../src/verification/face/face-network.ts";
import {
  landmarkInputPixels,
  landmarkNetwork,
  recognitionNetwork,
} from "../../src/verification/face/face-networks.ts";
import { type Cut, cutOf, pointsInPicture, sampleCut } from "../../src/verification/face/sample-picture.ts";

/** Of the face's width and height, around its points. */
const marginShare = 0.2;

/**
 * Embeddings as the source packages of the weights make them: of an upright box around the landmarks, in a
 * black square. The service rotates faces instead (`chipOf`). Its networks are compared with this, which is
 * also the "before" of `npm run face-eval -- FOLDER --upright`.
 */
export async function loadUprightEmbedding(): Promise<
  (picture: DecodedPicture, box: Box) => Promise<readonly number[]>
> {
  const landmarks = await FaceNetwork.load<"points">(landmarkNetwork(), landmarkInputPixels);
  const recognition = await FaceNetwork.load<"embedding">(recognitionNetwork(), chipPixels);
  const cut = (picture: DecodedPicture, box: Box): Cut => {
    const found = cutOf(picture, box);
    if (found === null) throw new Error("The face has no area");
    return found;
  };
  return async (picture, box) => {
    const rough = cut(picture, box);
    const { points } = await landmarks.run((pixels) =>
      sampleCut(picture, pixels, landmarkInputPixels, rough, recognitionMean),
    );
    const face = cut(picture, uprightBox(pointsInPicture(points, { ...rough, x: 0, y: 0 }), box));
    const { embedding } = await recognition.run((pixels) =>
      sampleCut(picture, pixels, chipPixels, face, recognitionMean),
    );
    return Array.from(embedding);
  };
}

/** As in face-api the far ends count from 0, and the cut from the detector's box. */
function uprightBox(points: Float64Array, box: Box): Box {
  const [xs, ys] = [points.filter((_, at) => at % 2 === 0), points.filter((_, at) => at % 2 === 1)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(0, ...xs) - left, Math.max(0, ...ys) - top];
  return {
    x: left - (width * marginShare) / 2 + Math.max(box.x, 0),
    y: top - (height * marginShare) / 2 + Math.max(box.y, 0),
    width: width * (1 + marginShare),
    height: height * (1 + marginShare),
  };
}
