import type { Tlv } from "../ber/read.ts";
import { integer, tlv } from "../ber/write.ts";
import { latin1, utf8 } from "../bytes.ts";
import { dataGroupTags } from "./data-group.ts";
import {
  type HolderName,
  holderNameContent,
  openFile,
  readDigits,
  readHolderName,
  readText,
  tagListContent,
} from "./lds-file.ts";

const tagListTag = 0x5c;
const otherPersonsTag = 0xa0;
const fieldTags = {
  issuingAuthority: 0x5f19,
  dateOfIssue: 0x5f26,
  otherPerson: 0x5f1a,
  endorsements: 0x5f1b,
  taxOrExit: 0x5f1c,
  frontImage: 0x5f1d,
  rearImage: 0x5f1e,
  personalisedAt: 0x5f55,
  personalisationSystem: 0x5f56,
} as const;

type Dg12 = {
  readonly issuingAuthority: string | null;
  /** YYYYMMDD */
  readonly dateOfIssue: string | null;
  readonly otherPersons: readonly HolderName[];
  readonly endorsements: string | null;
  readonly taxOrExit: string | null;
  readonly frontImage: Uint8Array | null;
  readonly rearImage: Uint8Array | null;
  /** YYYYMMDDhhmmss */
  readonly personalisedAt: string | null;
  readonly personalisationSystem: string | null;
};

export function readDg12(bytes: Uint8Array): Dg12 {
  const group = openFile(bytes, dataGroupTags[12], "DG12");
  const text = (tag: number) => {
    const node = group.find(tag);
    return node === null ? null : readText(node);
  };
  const digits = (tag: number, count: 8 | 14) => {
    const node = group.find(tag);
    return node === null ? null : readDigits(node, count);
  };
  return {
    issuingAuthority: text(fieldTags.issuingAuthority),
    dateOfIssue: digits(fieldTags.dateOfIssue, 8),
    otherPersons: otherPersons(group),
    endorsements: text(fieldTags.endorsements),
    taxOrExit: text(fieldTags.taxOrExit),
    frontImage: group.find(fieldTags.frontImage)?.value ?? null,
    rearImage: group.find(fieldTags.rearImage)?.value ?? null,
    personalisedAt: digits(fieldTags.personalisedAt, 14),
    personalisationSystem: text(fieldTags.personalisationSystem),
  };
}

function otherPersons(group: Tlv): readonly HolderName[] {
  const nodes = [...(group.find(otherPersonsTag)?.children() ?? []), ...group.children()];
  return nodes
    .filter((node) => node.tag === fieldTags.otherPerson)
    .map((node) => readHolderName(readText(node)));
}

type Dg12Content = Partial<Dg12>;

export function buildDg12(content: Dg12Content): Uint8Array {
  const fields: [tag: number, value: Uint8Array][] = [];
  const put = (tag: number, value: Uint8Array | null | undefined) => {
    if (value != null) fields.push([tag, value]);
  };
  const text = (value: string | null | undefined) => (value == null ? null : utf8(value));
  const digits = (value: string | null | undefined) => (value == null ? null : latin1(value));
  put(fieldTags.issuingAuthority, text(content.issuingAuthority));
  put(fieldTags.dateOfIssue, digits(content.dateOfIssue));
  put(fieldTags.endorsements, text(content.endorsements));
  put(fieldTags.taxOrExit, text(content.taxOrExit));
  put(fieldTags.frontImage, content.frontImage);
  put(fieldTags.rearImage, content.rearImage);
  put(fieldTags.personalisedAt, digits(content.personalisedAt));
  put(fieldTags.personalisationSystem, text(content.personalisationSystem));
  const persons = content.otherPersons ?? [];
  const listed = [...fields.map(([tag]) => tag), ...(persons.length === 0 ? [] : [fieldTags.otherPerson])];
  return tlv(
    dataGroupTags[12],
    tlv(tagListTag, tagListContent(listed)),
    ...fields.map(([tag, value]) => tlv(tag, value)),
    ...(persons.length === 0
      ? []
      : [
          tlv(
            otherPersonsTag,
            integer(persons.length),
            ...persons.map((name) => tlv(fieldTags.otherPerson, holderNameContent(name))),
          ),
        ]),
  );
}
