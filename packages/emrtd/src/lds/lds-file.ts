import { readTlv, readWhole, type Tlv } from "../ber/read.ts";
import { concat, fromLatin1, fromUtf8, toHex, utf8 } from "../bytes.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";

/** The largest file that any reader here looks at. Portraits on chips are 10 to 60 kB. */
export const maxFileBytes = 1024 * 1024;
const fileLimits = { maxBytes: maxFileBytes, maxNodes: 10_000 } as const;

/** Opens a file that must be exactly one element with this tag: its hash covers every byte, so nothing may follow. */
export function openFile(bytes: Uint8Array, tag: number, what: string): Tlv {
  if (bytes.length > maxFileBytes) throw new EmrtdError("LDS_TOO_LARGE", `${what} is too large`);
  return readWhole(bytes, fileLimits).expect(tag, what);
}

/** Opens a file that chips pad to the size of their memory. Nothing signed depends on what follows. */
export function openPaddedFile(bytes: Uint8Array, tag: number, what: string): Tlv {
  if (bytes.length > maxFileBytes) throw new EmrtdError("LDS_TOO_LARGE", `${what} is too large`);
  return readTlv(bytes, 0, fileLimits).expect(tag, what);
}

/** The tags of a tag list (5C), in order. */
export function readTagList(bytes: Uint8Array): readonly number[] {
  const tags: number[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const first = bytes[offset++] ?? 0;
    let tag = first;
    if ((first & 0x1f) === 0x1f) {
      for (let octets = 1; ; octets++) {
        const next = bytes[offset++];
        if (next === undefined || octets > 3) throw new EmrtdError("LDS_INVALID", "A tag list is malformed");
        tag = tag * 256 + next;
        if ((next & 0x80) === 0) break;
      }
    }
    tags.push(tag);
    if (tags.length > 64) throw new EmrtdError("LDS_INVALID", "A tag list is too long");
  }
  return tags;
}

export function tagListContent(tags: readonly number[]): Uint8Array {
  return concat(
    ...tags.map((tag) => (tag > 0xff ? Uint8Array.of(tag >> 8, tag & 0xff) : Uint8Array.of(tag))),
  );
}

/** Texts are UTF-8 by the standard; older documents hold ISO 8859-1, which is recognised by not being UTF-8. */
export function readText(node: Tlv): string {
  if (node.valueLength > 16_384) throw new EmrtdError("LDS_TOO_LARGE", "A text is too long");
  try {
    return fromUtf8(node.value);
  } catch (error) {
    if (isEmrtdError(error)) return fromLatin1(node.value);
    throw error;
  }
}

/**
 * Digits of a date or time, as text or, in documents of several states, packed two to a byte. Undefined when it is neither:
 * a date that cannot be read must not hide the rest of the group.
 */
export function readDigits(node: Tlv, digits: 8 | 14): string | null {
  const text = node.valueLength === digits / 2 ? toHex(node.value) : fromLatin1(node.value.subarray(0, 32));
  return text.length === digits && /^[0-9]+$/.test(text) ? text : null;
}

export type HolderName = {
  readonly primary: string;
  readonly secondary: string;
};

/** Names are written as in the zone but in national characters: two fillers between the identifiers, one between words. */
export function readHolderName(text: string): HolderName {
  const words = (part: string) => part.replace(/<+/g, " ").trim();
  const split = text.indexOf("<<");
  return split === -1
    ? { primary: words(text), secondary: "" }
    : { primary: words(text.slice(0, split)), secondary: words(text.slice(split)) };
}

export function holderNameContent(name: HolderName): Uint8Array {
  const words = (part: string) => part.trim().replace(/\s+/g, "<");
  return utf8(
    name.secondary === "" ? words(name.primary) : `${words(name.primary)}<<${words(name.secondary)}`,
  );
}

/** Lists of lines (addresses, places) are separated by fillers. */
export function readLines(text: string): readonly string[] {
  return text
    .split("<")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
