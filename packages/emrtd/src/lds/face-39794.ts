import { readWhole, type Tlv } from "../ber/read.ts";
import { contextTag, contextValue, integerContent, sequence, tlv } from "../ber/write.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { FaceImage } from "./face-image.ts";
import { type ImageInfo, readImageInfo } from "./image.ts";

/** FaceImageDataBlock ::= [APPLICATION 5] SEQUENCE */
const faceImageDataBlockTag = 0x65;
const maxFaces = 16;

const jpegCode = 2;
const jpeg2000LossyCode = 3;

/**
 * The face image data block of ISO/IEC 39794-5 in ICAO's profile. Both the bare form and the form wrapped in
 * a context tag are read. Extensions are skipped, as the standard demands of readers.
 */
export function readFaces39794(template: Tlv): readonly FaceImage[] {
  const block = findBlock(template);
  const representations = block.need(0xa1, "The representations of the face").children();
  if (representations.length < 1 || representations.length > maxFaces) {
    throw new EmrtdError("LDS_INVALID", "The face image data has no representation or too many");
  }
  return representations.map((representation) => {
    // imageRepresentation [1] is a choice of base [0], which is a choice of the two-dimensional block [0].
    const image = representation
      .expect(0x30, "A representation of the face")
      .need(0xa1, "The image representation")
      .need(0xa0, "The base image representation")
      .need(0xa0, "The two-dimensional image");
    return { encoding: "ISO_39794_5", image: readImageInfo(image2d(image)) };
  });
}

function findBlock(template: Tlv): Tlv {
  const direct = template.find(faceImageDataBlockTag) ?? template.find(0xa1)?.find(faceImageDataBlockTag);
  if (direct == null) throw new EmrtdError("LDS_UNSUPPORTED", "The biometric data is not a face image");
  return direct;
}

function image2d(block: Tlv): Uint8Array {
  const data = block.find(0x80) ?? block.find(0xa0);
  if (data === null) throw new EmrtdError("LDS_INVALID", "The two-dimensional image has no data");
  return data.implicitOctetString();
}

/** The content of tag 7F2E. */
export function buildFace39794(image: ImageInfo): Uint8Array {
  const versionBlock = contextTag(
    0,
    contextValue(0, integerContent(3)),
    contextValue(1, integerContent(2019)),
  );
  const information = contextTag(
    1,
    contextTag(0, contextValue(0, Uint8Array.of(image.kind === "jpeg" ? jpegCode : jpeg2000LossyCode))),
    contextTag(
      7,
      contextValue(0, integerContent(image.width)),
      contextValue(1, integerContent(image.height)),
    ),
  );
  const twoDimensional = contextTag(0, contextValue(0, image.bytes), information);
  const representation = sequence(
    contextValue(0, integerContent(0)),
    contextTag(1, contextTag(0, twoDimensional)),
  );
  return contextTag(1, tlv(faceImageDataBlockTag, versionBlock, contextTag(1, representation)));
}

/** For data blocks in the primitive tag, whose content must be opened first. */
export function openFace39794(block: Uint8Array): Tlv {
  return readWhole(tlv(0x7f2e, block), { maxNodes: 10_000 });
}
