import { tlv } from "../ber/write.ts";
import { dataGroupTags } from "./data-group.ts";
import { openFile } from "./lds-file.ts";
import {
  buildSecurityInfos,
  readSecurityInfos,
  type SecurityInfo,
  type SecurityInfoContent,
} from "./security-infos.ts";

export function readDg14(bytes: Uint8Array): readonly SecurityInfo[] {
  return readSecurityInfos(openFile(bytes, dataGroupTags[14], "DG14").at(0, "The security infos of DG14"));
}

export function buildDg14(contents: readonly SecurityInfoContent[]): Uint8Array {
  return tlv(dataGroupTags[14], buildSecurityInfos(contents));
}
