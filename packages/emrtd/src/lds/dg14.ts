import { tlv } from "../ber/write.ts";
import { DATA_GROUP_TAGS } from "./data-group.ts";
import { openFile } from "./lds-file.ts";
import {
  buildSecurityInfos,
  readSecurityInfos,
  type SecurityInfo,
  type SecurityInfoContent,
} from "./security-infos.ts";

export function readDg14(bytes: Uint8Array): readonly SecurityInfo[] {
  return readSecurityInfos(openFile(bytes, DATA_GROUP_TAGS[14], "DG14").at(0, "The security infos of DG14"));
}

export function buildDg14(contents: readonly SecurityInfoContent[]): Uint8Array {
  return tlv(DATA_GROUP_TAGS[14], buildSecurityInfos(contents));
}
