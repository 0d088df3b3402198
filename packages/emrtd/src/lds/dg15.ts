import { tags } from "../ber/tag.ts";
import { tlv } from "../ber/write.ts";
import { dataGroupTags } from "./data-group.ts";
import { openFile } from "./lds-file.ts";

/** The key in DER, as key importers want it. */
export function readDg15(bytes: Uint8Array): Uint8Array {
  const key = openFile(bytes, dataGroupTags[15], "DG15").at(0, "The key of DG15", tags.sequence);
  key.at(0, "The algorithm of the key", tags.sequence).at(0, "The algorithm of the key").oid();
  key.at(1, "The key", tags.bitString);
  return key.bytes;
}

export function buildDg15(subjectPublicKeyInfo: Uint8Array): Uint8Array {
  return tlv(dataGroupTags[15], subjectPublicKeyInfo);
}
