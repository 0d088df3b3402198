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

/**
 * Texts are UTF-8 by the standard; older documents hold ISO 8859-1, recognized because it is not valid UTF-8.
 */
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
 * Digits of a date or time, as text or, in documents of several states, packed two to a byte. Null if
 * neither: an unreadable date must not hide the rest of the group.
 */
export function readDigits(node: Tlv, digits: 8 | 14): string | null {
  const text = node.valueLength === digits / 2 ? toHex(node.value) : fromLatin1(node.value.subarray(0, 32));
  return text.length === digits && /^[0-9]+$/.test(text) ? text : null;
}

export type HolderName = {
  readonly primary: string;
  readonly secondary: string;
};

/**
 * Names as in the zone but in national characters: two fillers between the identifiers, one between words.
 */
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
