import { tlv } from "../ber/write.ts";
import { latin1 } from "../bytes.ts";
import { type Mrz, parseMrz } from "../mrz/parse-mrz.ts";
import { dataGroupTags } from "./data-group.ts";
import { openFile } from "./lds-file.ts";

const mrzTag = 0x5f1f;

/** `at` decides the centuries of the dates. */
export function readDg1(bytes: Uint8Array, at: Date): Mrz {
  return parseMrz(openFile(bytes, dataGroupTags[1], "DG1").need(mrzTag, "The zone in DG1").value, at);
}

export function buildDg1(lines: readonly string[]): Uint8Array {
  return tlv(dataGroupTags[1], tlv(mrzTag, latin1(lines.join(""))));
}
