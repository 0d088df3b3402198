import { tags } from "../ber/tag.ts";
import { tlv } from "../ber/write.ts";
import { sodTag } from "./data-group.ts";
import { openFile } from "./lds-file.ts";

/** Unwraps EF.SOD. The content is a CMS message, in DER or, in some documents, in BER. */
export function readSodContent(bytes: Uint8Array): Uint8Array {
  return openFile(bytes, sodTag, "EF.SOD").at(0, "The message in EF.SOD", tags.sequence).bytes;
}

export function buildSod(cms: Uint8Array): Uint8Array {
  return tlv(sodTag, cms);
}
