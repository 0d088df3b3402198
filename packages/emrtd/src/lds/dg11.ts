import type { Tlv } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { fromLatin1, latin1, toHex } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { dataGroupTags } from "./data-group.ts";
import { openFile, tagListContent, tagListTag } from "./lds-file.ts";

const fullDateOfBirthTag = 0x5f2b;

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

/** The tag list is not used: several states list missing tags, or hold unlisted ones. */
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

/** Reads nothing else of the group, which holds more personal data than needed. Null if it cannot be read. */
export function readFullDateOfBirth(bytes: Uint8Array): string | null {
  try {
    const birth = openFile(bytes, dataGroupTags[11], "DG11").find(fullDateOfBirthTag);
    return birth === null ? null : readDate(birth);
  } catch (error) {
    if (isEmrtdError(error)) return null;
    throw error;
  }
}

/** Eight digits, as text or, in documents of several states, packed two to a byte. */
function readDate(node: Tlv): string | null {
  const text = node.valueLength === 4 ? toHex(node.value) : fromLatin1(node.value.subarray(0, 32));
  return /^[0-9]{8}$/.test(text) ? text : null;
}

export type Dg11Content = { readonly fullDateOfBirth: string };

export function buildDg11({ fullDateOfBirth }: Dg11Content): Uint8Array {
  return tlv(
    dataGroupTags[11],
    tlv(tagListTag, tagListContent([fullDateOfBirthTag])),
    tlv(fullDateOfBirthTag, latin1(fullDateOfBirth)),
  );
}
