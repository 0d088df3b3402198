import { embeddingOf } from "@assay/face/embedding";
import { chipOf, chipPixels } from "@assay/face/face-chip";
import { decodeFaces, detectorInputPixels, withoutBackground } from "@assay/face/find-faces";
import type { Box, FaceMeasurement } from "@assay/face/measurement";
import {
  extentOf,
  highlightOf,
  meshInputPixels,
  meshLeastConfidence,
  openingsOf,
  poseOf,
  type Square,
  shapeOf,
  squareAround,
} from "@assay/face/mesh-geometry";
import type { DecodedPicture } from "./decode-picture.ts";
import { lightAround, lightOf } from "./face-light.ts";
import { FaceNetwork } from "./face-network.ts";
import {
  detectorNetwork,
  landmarkInputPixels,
  landmarkNetwork,
  meshNetwork,
  recognitionNetwork,
} from "./face-networks.ts";
import {
  cutOf,
  type MeanColour,
  pointsInPicture,
  sampleChip,
  sampleCut,
  samplePicture,
} from "./sample-picture.ts";

export type FaceModels = {
  /** Every face in the picture, the largest first. */
  detect(picture: DecodedPicture): Promise<readonly Box[]>;
  /**
   * `measure` returns null if the box contains no face, so a face may be followed between pictures without
   * `detect`. For other models `detect` runs on every frame.
   */
  readonly follows?: boolean;
  /**
   * `near` is the position of the face in the picture before, if known: searching there first is faster. A
   * followed face gets that position as its `box`, too.
   */
  measure(
    picture: DecodedPicture,
    box: Box,
    near?: Box,
  ): Promise<FaceMeasurement | null> | FaceMeasurement | null;
  embed(picture: DecodedPicture, box: Box): Promise<readonly number[]>;
};

// What the weights were trained with.
const detectorMean: MeanColour = [117.001, 114.697, 97.404];
export const recognitionMean: MeanColour = [122.782, 117.001, 104.298];
const meshMean: MeanColour = [0, 0, 0];

/**
 * Margin around a picture that a face may fill, as a share of the longer side; chosen by hand. Too small: a
 * face that comes closer is lost. Too large: the face is small, and the detector less sure.
 */
const fillingMarginShare = 0.3;
const middleGrey = 128;
/**
 * If the mesh is shifted by more than this share, its pose is not exact enough, and it runs again. Chosen by
 * hand. Smaller: more second passes, about 5 ms each. Larger: less exact poses of a moving head.
 */
const meshShiftShare = 0.03;

/** Everything is read from this project's own files; nothing is ever fetched. */
export async function loadFaceModels(): Promise<FaceModels> {
  const recognition = await FaceNetwork.load<"embedding">(recognitionNetwork(), chipPixels);
  const landmarks = await FaceNetwork.load<"points">(landmarkNetwork(), landmarkInputPixels);
  const meshed = await FaceNetwork.load<"points" | "confidence">(meshNetwork(), meshInputPixels);
  const detector = await FaceNetwork.load<"boxes">(detectorNetwork(), detectorInputPixels);

  /** The face mesh of a square part of the picture, and the network's confidence that it contains a face. */
  const mesh = (picture: DecodedPicture, around: Square) =>
    meshed.run((pixels) =>
      samplePicture(picture, pixels, meshInputPixels, {
        left: around.x - around.side / 2,
        top: around.y - around.side / 2,
        step: around.side / (meshInputPixels - 1),
        mean: meshMean,
        outside: () => 0,
      }),
    );

  /** `margin` pixels of grey surround the picture. The network takes a square; black fills the rest. */
  async function find(picture: DecodedPicture, margin: number): Promise<Box[]> {
    const [width, height] = [picture.width + 2 * margin, picture.height + 2 * margin];
    const step = Math.max(width, height) / detectorInputPixels;
    const { boxes } = await detector.run((pixels) =>
      samplePicture(picture, pixels, detectorInputPixels, {
        left: -margin,
        top: -margin,
        step,
        mean: detectorMean,
        outside: (x, y) => (x < picture.width + margin && y < picture.height + margin ? middleGrey : 0),
      }),
    );
    return decodeFaces(boxes, detectorInputPixels).map((box) => ({
      x: box.x * step - margin,
      y: box.y * step - margin,
      width: box.width * step,
      height: box.height * step,
    }));
  }

  return {
    follows: true,

    async detect(picture) {
      const seen = await find(picture, 0);
      // The detector misses faces that fill the picture, as on coming closer. With a margin it finds them.
      const margin = Math.round(Math.max(picture.width, picture.height) * fillingMarginShare);
      return withoutBackground(seen.length > 0 ? seen : await find(picture, margin));
    },

    async measure(picture, box, near) {
      // The detector's box is rough, and a face moves: the first pass finds the position for the second.
      const first = squareAround(near !== undefined && isWithin(middleOf(box), near) ? near : box);
      const seen = await mesh(picture, first);
      const around = squareAround(extentOf(seen.points, first));
      const still = isAlike(first, around);
      const { points, confidence } = still ? seen : await mesh(picture, around);
      if (!((confidence[0] ?? 0) >= meshLeastConfidence)) return null;
      const shown = still ? first : around;
      const face = extentOf(points, shown);
      const pose = poseOf(points, shown);
      const highlight = highlightOf(points, shown, pose, (x, y) => lightAround(picture, x, y));
      return {
        box: face,
        ...pose,
        ...openingsOf(points),
        ...lightOf(picture, face),
        shape: shapeOf(points, shown),
        ...(highlight === null ? {} : { highlight }),
      };
    },

    async embed(picture, box) {
      const found = cutOf(picture, box);
      if (found === null) throw new Error("The face has no area");
      const { points } = await landmarks.run((pixels) =>
        sampleCut(picture, pixels, landmarkInputPixels, found, recognitionMean),
      );
      const chip = chipOf(pointsInPicture(points, found));
      const { embedding } = await recognition.run((pixels) =>
        sampleChip(picture, pixels, chip, recognitionMean),
      );
      return embeddingOf(embedding);
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
