import { tlv } from "../ber/write.ts";
import { latin1 } from "../bytes.ts";
import { comTag, type DataGroupNumber, dataGroupTags } from "./data-group.ts";
import { tagListContent, tagListTag } from "./lds-file.ts";

const ldsVersionTag = 0x5f01;
const unicodeVersionTag = 0x5f36;

/** EF.COM, which is not signed: no reader here relies on it. */
export function buildCom(dataGroups: readonly DataGroupNumber[]): Uint8Array {
  return tlv(
    comTag,
    tlv(ldsVersionTag, latin1("0107")),
    tlv(unicodeVersionTag, latin1("040000")),
    tlv(tagListTag, tagListContent(dataGroups.map((group) => dataGroupTags[group]))),
  );
}
