import { integer, tlv } from "../ber/write.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { dataGroupTags } from "./data-group.ts";
import { type ImageInfo, readImageInfo } from "./image.ts";
import { openFile } from "./lds-file.ts";

const displayedImageTag = 0x5f43;
const maxImages = 9;

type Dg7 = {
  /** Pictures of the holder's signature or usual mark. */
  readonly images: readonly ImageInfo[];
};

export function readDg7(bytes: Uint8Array): Dg7 {
  const group = openFile(bytes, dataGroupTags[7], "DG7");
  const images = group.children().filter((child) => child.tag === displayedImageTag);
  if (images.length < 1 || images.length > maxImages) {
    throw new EmrtdError("LDS_INVALID", "DG7 has no image or too many");
  }
  return { images: images.map((image) => readImageInfo(image.value)) };
}

export function buildDg7(images: readonly Uint8Array[]): Uint8Array {
  return tlv(
    dataGroupTags[7],
    integer(images.length),
    ...images.map((image) => tlv(displayedImageTag, image)),
  );
}
