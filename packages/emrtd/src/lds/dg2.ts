import type { Tlv } from "../ber/read.ts";
import { integer, tlv } from "../ber/write.ts";
import { fromHex } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { dataGroupTags } from "./data-group.ts";
import { buildFace19794, isFace19794, readFaces19794 } from "./face-19794.ts";
import { buildFace39794, openFace39794, readFaces39794 } from "./face-39794.ts";
import type { FaceImage } from "./face-image.ts";
import { readImageInfo } from "./image.ts";
import { openFile } from "./lds-file.ts";

const templateGroupTag = 0x7f61;
const templateTag = 0x7f60;
const templateHeaderTag = 0xa1;
const dataBlockTag = 0x5f2e;
const dataBlockConstructedTag = 0x7f2e;
const protectedTemplateTag = 0x7d;
const maxTemplates = 9;

export type Dg2 = {
  /** At least one. The first is the portrait. */
  readonly faces: readonly [FaceImage, ...FaceImage[]];
};

/** Finds the portrait by walking the templates to the image field, never by searching for image bytes. */
export function readDg2(bytes: Uint8Array): Dg2 {
  const group = openFile(bytes, dataGroupTags[2], "DG2").need(
    templateGroupTag,
    "The biometric templates of DG2",
  );
  const templates = group.children().filter((child) => child.tag === templateTag);
  if (templates.length < 1 || templates.length > maxTemplates) {
    throw new EmrtdError("LDS_INVALID", "DG2 has no biometric template or too many");
  }
  const [first, ...rest] = templates.flatMap(readTemplate);
  if (first === undefined) throw new EmrtdError("LDS_INVALID", "DG2 has no face");
  return { faces: [first, ...rest] };
}

function readTemplate(template: Tlv): readonly FaceImage[] {
  if (template.find(protectedTemplateTag) !== null) {
    throw new EmrtdError("LDS_UNSUPPORTED", "The biometric template is encrypted");
  }
  const primitive = template.find(dataBlockTag);
  if (primitive !== null) {
    const block = primitive.value;
    return isFace19794(block) ? readFaces19794(block) : readFaces39794(openFace39794(block));
  }
  const constructed = template.need(dataBlockConstructedTag, "The biometric data block");
  return isFace19794(constructed.value) ? readFaces19794(constructed.value) : readFaces39794(constructed);
}

type Dg2Content = {
  /** JPEG or JPEG 2000; size and kind are taken from the image itself. */
  readonly image: Uint8Array;
  readonly encoding: FaceImage["encoding"];
};

export function buildDg2(content: Dg2Content): Uint8Array {
  const image = readImageInfo(content.image);
  const old = content.encoding === "ISO_19794_5";
  const header = tlv(
    templateHeaderTag,
    tlv(0x80, fromHex("0101")),
    // A face, of no particular subtype, in the format that JTC1/SC37 registered for the standard.
    tlv(0x81, fromHex("02")),
    tlv(0x82, fromHex("00")),
    tlv(0x87, fromHex("0101")),
    tlv(0x88, fromHex(old ? "0008" : "002A")),
  );
  const block = old
    ? tlv(dataBlockTag, buildFace19794(image))
    : tlv(dataBlockConstructedTag, buildFace39794(image));
  return tlv(dataGroupTags[2], tlv(templateGroupTag, integer(1), tlv(templateTag, header, block)));
}
