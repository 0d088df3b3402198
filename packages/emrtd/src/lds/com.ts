import { tlv } from "../ber/write.ts";
import { fromLatin1, latin1 } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { comTag, type DataGroupNumber, dataGroupForTag, dataGroupTags } from "./data-group.ts";
import { openFile, readTagList, tagListContent } from "./lds-file.ts";

const ldsVersionTag = 0x5f01;
const unicodeVersionTag = 0x5f36;
const tagListTag = 0x5c;

type Com = {
  /** As on the chip: "0107", "0108". */
  readonly ldsVersion: string;
  readonly unicodeVersion: string;
  readonly dataGroups: readonly DataGroupNumber[];
  /** Tags in the list that belong to no data group. */
  readonly unknownTags: readonly number[];
};

/**
 * EF.COM is not signed. It helps to decide what to read; what counts is what the security object lists.
 */
export function readCom(bytes: Uint8Array): Com {
  const com = openFile(bytes, comTag, "EF.COM");
  const tags = readTagList(com.need(tagListTag, "The tag list of EF.COM").value);
  const dataGroups: DataGroupNumber[] = [];
  const unknownTags: number[] = [];
  for (const tag of tags) {
    const group = dataGroupForTag(tag);
    if (group === null) unknownTags.push(tag);
    else if (!dataGroups.includes(group)) dataGroups.push(group);
  }
  return {
    ldsVersion: version(com.need(ldsVersionTag, "The LDS version").value, 4),
    unicodeVersion: version(com.need(unicodeVersionTag, "The Unicode version").value, 6),
    dataGroups,
    unknownTags,
  };
}

function version(bytes: Uint8Array, digits: number): string {
  const text = fromLatin1(bytes.subarray(0, 16));
  if (text.length > digits || !/^[0-9]+$/.test(text))
    throw new EmrtdError("LDS_INVALID", "A version must be digits");
  return text;
}

type ComContent = {
  readonly dataGroups: readonly DataGroupNumber[];
  readonly ldsVersion?: string;
  readonly unicodeVersion?: string;
};

export function buildCom(content: ComContent): Uint8Array {
  return tlv(
    comTag,
    tlv(ldsVersionTag, latin1(content.ldsVersion ?? "0107")),
    tlv(unicodeVersionTag, latin1(content.unicodeVersion ?? "040000")),
    tlv(tagListTag, tagListContent(content.dataGroups.map((group) => dataGroupTags[group]))),
  );
}
