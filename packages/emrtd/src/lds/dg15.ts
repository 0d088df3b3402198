import { TAG } from "../ber/tag.ts";
import { tlv } from "../ber/write.ts";
import { DATA_GROUP_TAGS } from "./data-group.ts";
import { openFile } from "./lds-file.ts";

export type Dg15 = {
  /** DER, as key importers want it. */
  readonly subjectPublicKeyInfo: Uint8Array;
  /** Of the key: RSA or elliptic curve. */
  readonly algorithm: string;
};

export function readDg15(bytes: Uint8Array): Dg15 {
  const key = openFile(bytes, DATA_GROUP_TAGS[15], "DG15").at(0, "The key of DG15", TAG.sequence);
  const algorithm = key
    .at(0, "The algorithm of the key", TAG.sequence)
    .at(0, "The algorithm of the key")
    .oid();
  key.at(1, "The key", TAG.bitString);
  return { subjectPublicKeyInfo: key.bytes, algorithm };
}

export function buildDg15(subjectPublicKeyInfo: Uint8Array): Uint8Array {
  return tlv(DATA_GROUP_TAGS[15], subjectPublicKeyInfo);
}
