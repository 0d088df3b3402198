import { tlv } from "../ber/write.ts";
import { latin1 } from "../bytes.ts";
import { type Mrz, parseMrz } from "../mrz/parse-mrz.ts";
import { DATA_GROUP_TAGS } from "./data-group.ts";
import { openFile } from "./lds-file.ts";

const MRZ_TAG = 0x5f1f;

/** `at` decides the centuries of the dates. */
export function readDg1(bytes: Uint8Array, at: Date): Mrz {
  return parseMrz(openFile(bytes, DATA_GROUP_TAGS[1], "DG1").need(MRZ_TAG, "The zone in DG1").value, at);
}

export function buildDg1(lines: readonly string[]): Uint8Array {
  return tlv(DATA_GROUP_TAGS[1], tlv(MRZ_TAG, latin1(lines.join(""))));
}
