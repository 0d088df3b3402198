import { readTlv, readWhole, type Tlv } from "../ber/read.ts";
import { concat } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";

/** The largest file that any reader here looks at. Portraits on chips are 10 to 60 kB. */
export const maxFileBytes = 1024 * 1024;
const fileLimits = { maxBytes: maxFileBytes, maxNodes: 10_000 } as const;

/**
 * Opens a file that must be exactly one element with this tag.
 * Its hash covers every byte, so nothing may follow.
 */
export function openFile(bytes: Uint8Array, tag: number, what: string): Tlv {
  if (bytes.length > maxFileBytes) throw new EmrtdError("LDS_TOO_LARGE", `${what} is too large`);
  return readWhole(bytes, fileLimits).expect(tag, what);
}

/** Opens a file that chips pad to the size of their memory. Nothing signed depends on what follows. */
export function openPaddedFile(bytes: Uint8Array, tag: number, what: string): Tlv {
  if (bytes.length > maxFileBytes) throw new EmrtdError("LDS_TOO_LARGE", `${what} is too large`);
  return readTlv(bytes, 0, fileLimits).expect(tag, what);
}

/** Of the list of tags that a group begins with. */
export const tagListTag = 0x5c;

export function tagListContent(tags: readonly number[]): Uint8Array {
  return concat(
    ...tags.map((tag) => (tag > 0xff ? Uint8Array.of(tag >> 8, tag & 0xff) : Uint8Array.of(tag))),
  );
}
