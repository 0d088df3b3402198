import { tags } from "../ber/tag.ts";
import { tlv } from "../ber/write.ts";
import { dataGroupTags } from "./data-group.ts";
import { openFile } from "./lds-file.ts";

export type Dg15 = {
  /** DER, as key importers want it. */
  readonly subjectPublicKeyInfo: Uint8Array;
  /** Of the key: RSA or elliptic curve. */
  readonly algorithm: string;
};

export function readDg15(bytes: Uint8Array): Dg15 {
  const key = openFile(bytes, dataGroupTags[15], "DG15").at(0, "The key of DG15", tags.sequence);
  const algorithm = key
    .at(0, "The algorithm of the key", tags.sequence)
    .at(0, "The algorithm of the key")
    .oid();
  key.at(1, "The key", tags.bitString);
  return { subjectPublicKeyInfo: key.bytes, algorithm };
}

export function buildDg15(subjectPublicKeyInfo: Uint8Array): Uint8Array {
  return tlv(dataGroupTags[15], subjectPublicKeyInfo);
}
