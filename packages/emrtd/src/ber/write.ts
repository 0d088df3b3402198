import { latin1, uintBytes, utf8 } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { oidToBytes } from "./oid.ts";
import { contextConstructed, contextPrimitive, tags } from "./tag.ts";

function octetsOf(value: number): number {
  let octets = 1;
  while (octets < 6 && value >= 256 ** octets) octets++;
  return octets;
}

/** Big-endian; returns where the next octet goes. */
function writeUint(bytes: Uint8Array, start: number, value: number, octets: number): number {
  let rest = value;
  for (let offset = start + octets - 1; offset >= start; offset--) {
    bytes[offset] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return start + octets;
}

/** `tag` is the identifier octets as a number, as in `Tlv.tag`. */
export function tlv(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of content) length += part.length;
  const tagOctets = octetsOf(tag);
  const lengthOctets = length < 0x80 ? 0 : octetsOf(length);
  const bytes = new Uint8Array(tagOctets + 1 + lengthOctets + length);
  let offset = writeUint(bytes, 0, tag, tagOctets);
  bytes[offset++] = lengthOctets === 0 ? length : 0x80 | lengthOctets;
  offset = writeUint(bytes, offset, length, lengthOctets);
  for (const part of content) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

export function sequence(...content: readonly Uint8Array[]): Uint8Array {
  return tlv(tags.sequence, ...content);
}

/** SET OF: DER wants the encodings in ascending order. */
export function setOf(...content: readonly Uint8Array[]): Uint8Array {
  return tlv(tags.set, ...[...content].sort(compareBytes));
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function integer(value: number | bigint): Uint8Array {
  return tlv(tags.integer, integerContent(value));
}

/** The content octets alone, for implicitly tagged numbers. */
export function integerContent(value: number | bigint): Uint8Array {
  const number = BigInt(value);
  // One bit for the sign; a negative number of n bits is stored as its complement, so -128 fits in one octet.
  const bits = (number < 0n ? ~number : number).toString(2).length + 1;
  const octets = Math.ceil(bits / 8);
  const unsigned = number < 0n ? number + (1n << BigInt(octets * 8)) : number;
  const bytes = uintBytes(unsigned, octets);
  const first = bytes[0] ?? 0;
  const redundant = octets > 1 && first === 0 && ((bytes[1] ?? 0) & 0x80) === 0;
  return redundant ? bytes.subarray(1) : bytes;
}

/** A non-negative number given as big-endian bytes. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  let zeros = 0;
  while (zeros < bytes.length - 1 && bytes[zeros] === 0) zeros++;
  const magnitude = bytes.length === 0 ? Uint8Array.of(0) : bytes.subarray(zeros);
  const sign = ((magnitude[0] ?? 0) & 0x80) === 0 ? new Uint8Array(0) : Uint8Array.of(0);
  return tlv(tags.integer, sign, magnitude);
}

export function boolean(value: boolean): Uint8Array {
  return tlv(tags.boolean, Uint8Array.of(value ? 0xff : 0));
}

export function nullValue(): Uint8Array {
  return tlv(tags.null);
}

export function oid(dotted: string): Uint8Array {
  return tlv(tags.oid, oidToBytes(dotted));
}

export function octetString(...content: readonly Uint8Array[]): Uint8Array {
  return tlv(tags.octetString, ...content);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return tlv(tags.bitString, Uint8Array.of(unusedBits), bytes);
}

export function utf8String(text: string): Uint8Array {
  return tlv(tags.utf8String, utf8(text));
}

export function printableString(text: string): Uint8Array {
  if (!/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text)) {
    throw new EmrtdError("BUILD_INVALID", "The text has a character that a PrintableString cannot hold");
  }
  return tlv(tags.printableString, latin1(text));
}

export function ia5String(text: string): Uint8Array {
  return tlv(tags.ia5String, latin1(text));
}

/** EXPLICIT tagging, and IMPLICIT tagging of constructed types when given the parts. */
export function contextTag(number: number, ...content: readonly Uint8Array[]): Uint8Array {
  return tlv(contextConstructed(number), ...content);
}

/** IMPLICIT tagging of a simple type, given its content octets. */
export function contextValue(number: number, ...content: readonly Uint8Array[]): Uint8Array {
  return tlv(contextPrimitive(number), ...content);
}

export function utcTime(at: Date): Uint8Array {
  const year = at.getUTCFullYear();
  if (!(year >= 1950 && year < 2050))
    throw new EmrtdError("BUILD_INVALID", "UTCTime covers 1950 to 2049 only");
  return tlv(tags.utcTime, latin1(`${compactTime(at).slice(2)}Z`));
}

export function generalizedTime(at: Date): Uint8Array {
  return tlv(tags.generalizedTime, latin1(`${compactTime(at)}Z`));
}

/** As in certificates: UTCTime up to 2049, GeneralizedTime from 2050. */
export function certificateTime(at: Date): Uint8Array {
  const year = at.getUTCFullYear();
  return year >= 1950 && year < 2050 ? utcTime(at) : generalizedTime(at);
}

function compactTime(at: Date): string {
  const year = at.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new EmrtdError("BUILD_INVALID", "The time cannot be encoded");
  return at.toISOString().slice(0, 19).replace(/[-:T]/g, "");
}
