import type { ImageInfo } from "./image.ts";

export type FaceImage = {
  readonly encoding: "ISO_19794_5" | "ISO_39794_5";
  readonly image: ImageInfo;
};
