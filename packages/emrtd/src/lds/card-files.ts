import { readTlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { openPaddedFile } from "./lds-file.ts";
import {
  buildSecurityInfos,
  readSecurityInfos,
  type SecurityInfo,
  type SecurityInfoContent,
} from "./security-infos.ts";

/**
 * EF.CardAccess is readable before access control and is unsigned:
 * it says how to communicate, not whom to trust.
 */
export function readCardAccess(bytes: Uint8Array): readonly SecurityInfo[] {
  return readSecurityInfos(openPaddedFile(bytes, tags.set, "EF.CardAccess"));
}

export function buildCardAccess(contents: readonly SecurityInfoContent[]): Uint8Array {
  return buildSecurityInfos(contents);
}

/** EF.CardSecurity is a CMS message without a wrapper; only the padding behind it is taken off. */
export function readCardSecurityContent(bytes: Uint8Array): Uint8Array {
  return openPaddedFile(bytes, tags.sequence, "EF.CardSecurity").bytes;
}

export type AtrInfo = {
  /** From the extended length information, when the chip gives it. */
  readonly maxCommandBytes: number | null;
  readonly maxResponseBytes: number | null;
  /** From the card capabilities: whether extended lengths are allowed. Null if the file does not say. */
  readonly extendedLength: boolean | null;
};

const extendedLengthInformationTag = 0x7f66;
const cardCapabilitiesTag = 0x47;
const maxObjects = 64;

/** EF.ATR/INFO is a row of data objects, padded with zeros or FF. */
export function readAtrInfo(bytes: Uint8Array): AtrInfo {
  if (bytes.length > 4096) throw new EmrtdError("LDS_TOO_LARGE", "EF.ATR/INFO is too large");
  let maxCommandBytes: number | null = null;
  let maxResponseBytes: number | null = null;
  let extendedLength: boolean | null = null;
  let offset = 0;
  for (let objects = 0; offset < bytes.length && objects < maxObjects; objects++) {
    const first = bytes[offset];
    if (first === 0x00 || first === 0xff) break;
    const object = readTlv(bytes, offset, { maxNodes: 64 });
    if (object.tag === extendedLengthInformationTag) {
      maxCommandBytes = object.at(0, "The longest command").smallInteger();
      maxResponseBytes = object.at(1, "The longest response").smallInteger();
      if (maxCommandBytes < 1 || maxResponseBytes < 1) {
        throw new EmrtdError("LDS_INVALID", "The extended length information is out of range");
      }
    }
    // ISO/IEC 7816-4, third software function table: bit 7 says that extended lengths are understood.
    if (object.tag === cardCapabilitiesTag && object.valueLength >= 3)
      extendedLength = ((object.value[2] ?? 0) & 0x40) !== 0;
    offset = object.end;
  }
  return { maxCommandBytes, maxResponseBytes, extendedLength };
}
