import { integer, tlv } from "../ber/write.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { DATA_GROUP_TAGS } from "./data-group.ts";
import { type ImageInfo, readImageInfo } from "./image.ts";
import { openFile } from "./lds-file.ts";

const DISPLAYED_IMAGE = 0x5f43;
const MAX_IMAGES = 9;

export type Dg7 = {
  /** Pictures of the holder's signature or usual mark. */
  readonly images: readonly ImageInfo[];
};

export function readDg7(bytes: Uint8Array): Dg7 {
  const group = openFile(bytes, DATA_GROUP_TAGS[7], "DG7");
  const images = group.children().filter((child) => child.tag === DISPLAYED_IMAGE);
  if (images.length < 1 || images.length > MAX_IMAGES) {
    throw new EmrtdError("LDS_INVALID", "DG7 has no image or too many");
  }
  return { images: images.map((image) => readImageInfo(image.value)) };
}

export function buildDg7(images: readonly Uint8Array[]): Uint8Array {
  return tlv(
    DATA_GROUP_TAGS[7],
    integer(images.length),
    ...images.map((image) => tlv(DISPLAYED_IMAGE, image)),
  );
}
