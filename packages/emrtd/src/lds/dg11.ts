import type { Tlv } from "../ber/read.ts";
import { integer, tlv } from "../ber/write.ts";
import { latin1, utf8 } from "../bytes.ts";
import { DATA_GROUP_TAGS } from "./data-group.ts";
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

const TAG_LIST = 0x5c;
const OTHER_NAMES = 0xa0;
const FIELD = {
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

export type Dg11 = {
  /** In national characters, uncut, which is why it goes before the zone's. */
  readonly fullName: HolderName | undefined;
  readonly otherNames: readonly HolderName[];
  readonly personalNumber: string | undefined;
  /** YYYYMMDD; a part that the issuer does not know is 00. */
  readonly fullDateOfBirth: string | undefined;
  readonly placeOfBirth: readonly string[];
  readonly address: readonly string[];
  readonly telephone: string | undefined;
  readonly profession: string | undefined;
  readonly title: string | undefined;
  readonly personalSummary: string | undefined;
  readonly proofOfCitizenship: Uint8Array | undefined;
  readonly otherDocuments: readonly string[];
  readonly custody: string | undefined;
};

/** The tag list is not relied upon: several states list what is not there, or hold what is not listed. */
export function readDg11(bytes: Uint8Array): Dg11 {
  const group = openFile(bytes, DATA_GROUP_TAGS[11], "DG11");
  const text = (tag: number) => {
    const node = group.find(tag);
    return node === undefined ? undefined : readText(node);
  };
  const lines = (tag: number) => readLines(text(tag) ?? "");
  const fullName = text(FIELD.fullName);
  const birth = group.find(FIELD.fullDateOfBirth);
  return {
    fullName: fullName === undefined ? undefined : readHolderName(fullName),
    otherNames: otherNames(group),
    personalNumber: text(FIELD.personalNumber),
    fullDateOfBirth: birth === undefined ? undefined : readDigits(birth, 8),
    placeOfBirth: lines(FIELD.placeOfBirth),
    address: lines(FIELD.address),
    telephone: text(FIELD.telephone),
    profession: text(FIELD.profession),
    title: text(FIELD.title),
    personalSummary: text(FIELD.personalSummary),
    proofOfCitizenship: group.find(FIELD.proofOfCitizenship)?.value,
    otherDocuments: lines(FIELD.otherDocuments),
    custody: text(FIELD.custody),
  };
}

/** In their own template by the standard, beside the other fields in Chinese documents. */
function otherNames(group: Tlv): readonly HolderName[] {
  const nodes = [...(group.find(OTHER_NAMES)?.children() ?? []), ...group.children()];
  return nodes.filter((node) => node.tag === FIELD.otherName).map((node) => readHolderName(readText(node)));
}

export type Dg11Content = Partial<Dg11>;

export function buildDg11(content: Dg11Content): Uint8Array {
  const fields: [tag: number, value: Uint8Array][] = [];
  const put = (tag: number, value: Uint8Array | undefined) => {
    if (value !== undefined) fields.push([tag, value]);
  };
  const text = (value: string | undefined) => (value === undefined ? undefined : utf8(value));
  const lines = (value: readonly string[] | undefined) =>
    value === undefined || value.length === 0 ? undefined : utf8(value.join("<"));
  put(FIELD.fullName, content.fullName === undefined ? undefined : holderNameContent(content.fullName));
  put(FIELD.personalNumber, text(content.personalNumber));
  put(
    FIELD.fullDateOfBirth,
    content.fullDateOfBirth === undefined ? undefined : latin1(content.fullDateOfBirth),
  );
  put(FIELD.placeOfBirth, lines(content.placeOfBirth));
  put(FIELD.address, lines(content.address));
  put(FIELD.telephone, text(content.telephone));
  put(FIELD.profession, text(content.profession));
  put(FIELD.title, text(content.title));
  put(FIELD.personalSummary, text(content.personalSummary));
  put(FIELD.proofOfCitizenship, content.proofOfCitizenship);
  put(FIELD.otherDocuments, lines(content.otherDocuments));
  put(FIELD.custody, text(content.custody));
  const names = content.otherNames ?? [];
  const listed = [...fields.map(([tag]) => tag), ...(names.length === 0 ? [] : [FIELD.otherName])];
  return tlv(
    DATA_GROUP_TAGS[11],
    tlv(TAG_LIST, tagListContent(listed)),
    ...fields.map(([tag, value]) => tlv(tag, value)),
    ...(names.length === 0
      ? []
      : [
          tlv(
            OTHER_NAMES,
            integer(names.length),
            ...names.map((name) => tlv(FIELD.otherName, holderNameContent(name))),
          ),
        ]),
  );
}
