import type { ImageInfo } from "./image.ts";

export type FaceImage = {
  readonly encoding: "ISO_19794_5" | "ISO_39794_5";
  readonly image: ImageInfo;
};

/** Departures from the standard that real documents show and that do not stop the reading. */
export type FaceWarning =
  | "TEMPLATE_COUNT_WRONG"
  | "RECORD_LENGTH_WRONG"
  | "FACE_LENGTH_WRONG"
  | "IMAGE_KIND_MISSTATED"
  | "IMAGE_SIZE_MISSTATED";
