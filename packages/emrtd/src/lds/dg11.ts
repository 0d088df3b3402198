import type { Tlv } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { fromLatin1, latin1, toHex } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { dataGroupTags } from "./data-group.ts";
import { openFile, tagListContent, tagListTag } from "./lds-file.ts";

const fullDateOfBirthTag = 0x5f2b;

/**
 * YYYYMMDD; a part that the issuer does not know is 00. Null if it cannot be read. The rest of the group, which
 * has more about the person than was asked for, is not read.
 */
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
