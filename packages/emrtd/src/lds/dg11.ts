import type { Tlv } from "../ber/read.ts";
import { integer, tlv } from "../ber/write.ts";
import { latin1, utf8 } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { dataGroupTags } from "./data-group.ts";
import {
  type HolderName,
  holderNameContent,
  openFile,
  readDigits,
  readHolderName,
  readLines,
  readText,
  tagListContent,
} from "./lds-file.ts";

const tagListTag = 0x5c;
const otherNamesTag = 0xa0;
const fieldTags = {
  fullName: 0x5f0e,
  otherName: 0x5f0f,
  personalNumber: 0x5f10,
  fullDateOfBirth: 0x5f2b,
  placeOfBirth: 0x5f11,
  address: 0x5f42,
  telephone: 0x5f12,
  profession: 0x5f13,
  title: 0x5f14,
  personalSummary: 0x5f15,
  proofOfCitizenship: 0x5f16,
  otherDocuments: 0x5f17,
  custody: 0x5f18,
} as const;

type Dg11 = {
  /** In national characters, uncut, which is why it goes before the zone's. */
  readonly fullName: HolderName | null;
  readonly otherNames: readonly HolderName[];
  readonly personalNumber: string | null;
  /** YYYYMMDD; a part that the issuer does not know is 00. */
  readonly fullDateOfBirth: string | null;
  readonly placeOfBirth: readonly string[];
  readonly address: readonly string[];
  readonly telephone: string | null;
  readonly profession: string | null;
  readonly title: string | null;
  readonly personalSummary: string | null;
  readonly proofOfCitizenship: Uint8Array | null;
  readonly otherDocuments: readonly string[];
  readonly custody: string | null;
};

/** The tag list is not relied upon: several states list what is not there, or hold what is not listed. */
export function readDg11(bytes: Uint8Array): Dg11 {
  const group = openFile(bytes, dataGroupTags[11], "DG11");
  const text = (tag: number) => {
    const node = group.find(tag);
    return node === null ? null : readText(node);
  };
  const lines = (tag: number) => readLines(text(tag) ?? "");
  const fullName = text(fieldTags.fullName);
  const birth = group.find(fieldTags.fullDateOfBirth);
  return {
    fullName: fullName === null ? null : readHolderName(fullName),
    otherNames: otherNames(group),
    personalNumber: text(fieldTags.personalNumber),
    fullDateOfBirth: birth === null ? null : readDigits(birth, 8),
    placeOfBirth: lines(fieldTags.placeOfBirth),
    address: lines(fieldTags.address),
    telephone: text(fieldTags.telephone),
    profession: text(fieldTags.profession),
    title: text(fieldTags.title),
    personalSummary: text(fieldTags.personalSummary),
    proofOfCitizenship: group.find(fieldTags.proofOfCitizenship)?.value ?? null,
    otherDocuments: lines(fieldTags.otherDocuments),
    custody: text(fieldTags.custody),
  };
}

/** Nothing else of the group is looked at: it holds more about a person than anybody asked for. Null when it cannot be read. */
export function readFullDateOfBirth(bytes: Uint8Array): string | null {
  try {
    const birth = openFile(bytes, dataGroupTags[11], "DG11").find(fieldTags.fullDateOfBirth);
    return birth === null ? null : readDigits(birth, 8);
  } catch (error) {
    if (isEmrtdError(error)) return null;
    throw error;
  }
}

/** In their own template by the standard, beside the other fields in Chinese documents. */
function otherNames(group: Tlv): readonly HolderName[] {
  const nodes = [...(group.find(otherNamesTag)?.children() ?? []), ...group.children()];
  return nodes
    .filter((node) => node.tag === fieldTags.otherName)
    .map((node) => readHolderName(readText(node)));
}

export type Dg11Content = Partial<Dg11>;

export function buildDg11(content: Dg11Content): Uint8Array {
  const fields: [tag: number, value: Uint8Array][] = [];
  const put = (tag: number, value: Uint8Array | null | undefined) => {
    if (value != null) fields.push([tag, value]);
  };
  const text = (value: string | null | undefined) => (value == null ? null : utf8(value));
  const lines = (value: readonly string[] | undefined) =>
    value === undefined || value.length === 0 ? null : utf8(value.join("<"));
  put(fieldTags.fullName, content.fullName == null ? null : holderNameContent(content.fullName));
  put(fieldTags.personalNumber, text(content.personalNumber));
  put(fieldTags.fullDateOfBirth, content.fullDateOfBirth == null ? null : latin1(content.fullDateOfBirth));
  put(fieldTags.placeOfBirth, lines(content.placeOfBirth));
  put(fieldTags.address, lines(content.address));
  put(fieldTags.telephone, text(content.telephone));
  put(fieldTags.profession, text(content.profession));
  put(fieldTags.title, text(content.title));
  put(fieldTags.personalSummary, text(content.personalSummary));
  put(fieldTags.proofOfCitizenship, content.proofOfCitizenship);
  put(fieldTags.otherDocuments, lines(content.otherDocuments));
  put(fieldTags.custody, text(content.custody));
  const names = content.otherNames ?? [];
  const listed = [...fields.map(([tag]) => tag), ...(names.length === 0 ? [] : [fieldTags.otherName])];
  return tlv(
    dataGroupTags[11],
    tlv(tagListTag, tagListContent(listed)),
    ...fields.map(([tag, value]) => tlv(tag, value)),
    ...(names.length === 0
      ? []
      : [
          tlv(
            otherNamesTag,
            integer(names.length),
            ...names.map((name) => tlv(fieldTags.otherName, holderNameContent(name))),
          ),
        ]),
  );
}
