import {
  bytesToBigInt,
  concatAll,
  fromLatin1,
  fromUtf8,
  hexBetween,
  readUint16,
  readUint32,
} from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { oidFromBytes } from "./oid.ts";
import { tags } from "./tag.ts";

type BerLimits = {
  /** Of the whole encoding, headers included. */
  readonly maxBytes: number;
  /** Nesting below the root. */
  readonly maxDepth: number;
  /**
   * Headers read below one root, including those skipped while looking for the end of an indefinite length.
   */
  readonly maxNodes: number;
};

const defaultBerLimits: BerLimits = { maxBytes: 16 * 1024 * 1024, maxDepth: 32, maxNodes: 200_000 };

const indefiniteLength = -1;
const constructedBit = 0x20;

/** Shared by all nodes below one root, so that no path through the tree exceeds the root's limits. */
type Budget = {
  readonly maxDepth: number;
  nodesLeft: number;
};

/** `length` is `indefiniteLength`, or the number of content bytes. */
type Header = { readonly tag: number; readonly valueStart: number; readonly length: number };

function readHeader(bytes: Uint8Array, start: number, limit: number, budget: Budget): Header {
  if (--budget.nodesLeft < 0) throw new EmrtdError("BER_TOO_LARGE", "The encoding has too many elements");
  let offset = start;
  if (offset >= limit) throw new EmrtdError("BER_TRUNCATED", "The encoding ends before a tag");
  const first = bytes[offset++] ?? 0;
  let tag = first;
  if ((first & 0x1f) === 0x1f) {
    // ICAO writes small numbers in the long form (5F01), so only the count of octets is checked here.
    for (let octets = 1; ; octets++) {
      if (offset >= limit) throw new EmrtdError("BER_TRUNCATED", "The encoding ends inside a tag");
      const next = bytes[offset++] ?? 0;
      if (octets === 1 && next === 0x80)
        throw new EmrtdError("BER_INVALID", "A tag number has leading zeros");
      tag = tag * 256 + next;
      if ((next & 0x80) === 0) break;
      if (octets === 3) throw new EmrtdError("BER_INVALID", "A tag has more than four octets");
    }
  }
  if (offset >= limit) throw new EmrtdError("BER_TRUNCATED", "The encoding ends before a length");
  const lengthOctet = bytes[offset++] ?? 0;
  if (lengthOctet < 0x80) {
    if (lengthOctet > limit - offset)
      throw new EmrtdError("BER_TRUNCATED", "A value is longer than the data");
    return { tag, valueStart: offset, length: lengthOctet };
  }
  if (lengthOctet === 0x80) {
    if ((first & constructedBit) === 0)
      throw new EmrtdError("BER_INVALID", "A primitive value has no length");
    return { tag, valueStart: offset, length: indefiniteLength };
  }
  const octets = lengthOctet & 0x7f;
  if (octets > 4) throw new EmrtdError("BER_TOO_LARGE", "A length has more than four octets");
  if (octets > limit - offset) throw new EmrtdError("BER_TRUNCATED", "The encoding ends inside a length");
  let length = 0;
  for (let count = 0; count < octets; count++) length = length * 256 + (bytes[offset++] ?? 0);
  if (length > limit - offset) throw new EmrtdError("BER_TRUNCATED", "A value is longer than the data");
  return { tag, valueStart: offset, length };
}

/** Skips the content of an indefinite length without recursion, and returns where its end marker starts. */
function findEndOfContents(
  bytes: Uint8Array,
  start: number,
  limit: number,
  depth: number,
  budget: Budget,
): number {
  let offset = start;
  let open = 1;
  for (;;) {
    if (bytes[offset] === 0 && bytes[offset + 1] === 0 && offset + 2 <= limit) {
      open--;
      if (open === 0) return offset;
      offset += 2;
      continue;
    }
    const { tag, valueStart, length } = readHeader(bytes, offset, limit, budget);
    if (tag === 0) throw new EmrtdError("BER_INVALID", "An end marker has content");
    if (length === indefiniteLength) {
      open++;
      if (depth + open > budget.maxDepth) {
        throw new EmrtdError("BER_TOO_DEEP", "The encoding is nested too deeply");
      }
      offset = valueStart;
    } else {
      offset = valueStart + length;
    }
  }
}

function readNode(bytes: Uint8Array, start: number, limit: number, depth: number, budget: Budget): Tlv {
  if (depth > budget.maxDepth) throw new EmrtdError("BER_TOO_DEEP", "The encoding is nested too deeply");
  const { tag, valueStart, length } = readHeader(bytes, start, limit, budget);
  const indefinite = length === indefiniteLength;
  const valueEnd = indefinite
    ? findEndOfContents(bytes, valueStart, limit, depth, budget)
    : valueStart + length;
  const end = indefinite ? valueEnd + 2 : valueEnd;
  return new Tlv(bytes, tag, start, valueStart, valueEnd, end, depth, budget);
}

/**
 * One element of a BER or DER encoding.
 * It is a view of the given bytes, never a copy; children are read on demand.
 */
export class Tlv {
  /** The identifier octets, big-endian: 0x30, 0x7f61. */
  readonly tag: number;
  /** Offsets into the bytes given to `readTlv`. */
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Where the next element starts; after the end marker if the length was indefinite. */
  readonly end: number;
  readonly #source: Uint8Array;
  readonly #depth: number;
  readonly #budget: Budget;
  #children: readonly Tlv[] | null = null;

  constructor(
    source: Uint8Array,
    tag: number,
    start: number,
    valueStart: number,
    valueEnd: number,
    end: number,
    depth: number,
    budget: Budget,
  ) {
    this.tag = tag;
    this.start = start;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    this.end = end;
    this.#source = source;
    this.#depth = depth;
    this.#budget = budget;
  }

  get constructed(): boolean {
    return ((this.#source[this.start] ?? 0) & constructedBit) !== 0;
  }

  get indefinite(): boolean {
    return this.end !== this.valueEnd;
  }

  /** The content octets, without an end marker. */
  get value(): Uint8Array {
    return this.#source.subarray(this.valueStart, this.valueEnd);
  }

  /** The content octets in hexadecimal. */
  get valueHex(): string {
    return hexBetween(this.#source, this.valueStart, this.valueEnd);
  }

  get valueLength(): number {
    return this.valueEnd - this.valueStart;
  }

  /** The whole element as it was encoded. */
  get bytes(): Uint8Array {
    return this.#source.subarray(this.start, this.end);
  }

  /** The elements directly below, read on the first call and kept. */
  children(): readonly Tlv[] {
    this.#children ??= [...this.iterate()];
    return this.#children;
  }

  /** The elements directly below, one at a time and not kept. */
  *iterate(): Generator<Tlv, void, void> {
    if (!this.constructed) throw new EmrtdError("BER_INVALID", "A primitive element has no parts");
    for (let offset = this.valueStart; offset < this.valueEnd; ) {
      const child = readNode(this.#source, offset, this.valueEnd, this.#depth + 1, this.#budget);
      yield child;
      offset = child.end;
    }
  }

  /** The first element directly below with this tag. */
  find(tag: number): Tlv | null {
    for (const child of this.children()) if (child.tag === tag) return child;
    return null;
  }

  /** Like `find`, but its absence is an error that names `what`. */
  need(tag: number, what: string): Tlv {
    const child = this.find(tag);
    if (child === null) throw new EmrtdError("BER_INVALID", `${what} is missing`);
    return child;
  }

  /** The element at this position below, with this tag when one is given. */
  at(index: number, what: string, tag?: number): Tlv {
    const child = this.children()[index];
    if (child === undefined) throw new EmrtdError("BER_INVALID", `${what} is missing`);
    return tag === undefined ? child : child.expect(tag, what);
  }

  expect(tag: number, what: string): this {
    if (this.tag !== tag) throw new EmrtdError("BER_INVALID", `${what} has an unexpected tag`);
    return this;
  }

  oid(): string {
    this.expect(tags.oid, "An object identifier");
    return oidFromBytes(this.value);
  }

  /** Two's complement, as encoded. */
  integer(): bigint {
    this.expectNumber();
    if (this.valueLength <= 4) return BigInt(this.fewOctets());
    const value = this.value;
    const magnitude = bytesToBigInt(value);
    return ((value[0] ?? 0) & 0x80) === 0 ? magnitude : magnitude - (1n << BigInt(value.length * 8));
  }

  /** A number that is known to be small; anything beyond 2^31 is refused. */
  smallInteger(): number {
    if (this.valueLength > 4) throw new EmrtdError("BER_INVALID", "A number is out of range");
    this.expectNumber();
    return this.fewOctets();
  }

  /** Up to four octets of two's complement. */
  private fewOctets(): number {
    let value = ((this.#source[this.valueStart] ?? 0) & 0x80) === 0 ? 0 : -1;
    for (let offset = this.valueStart; offset < this.valueEnd; offset++)
      value = (value << 8) | (this.#source[offset] ?? 0);
    return value;
  }

  /** A non-negative number as big-endian bytes without the sign octet, which is what keys and moduli need. */
  unsignedBytes(): Uint8Array {
    this.expectNumber();
    const value = this.value;
    if (((value[0] ?? 0) & 0x80) !== 0) throw new EmrtdError("BER_INVALID", "A number must not be negative");
    let zeros = 0;
    while (zeros < value.length - 1 && value[zeros] === 0) zeros++;
    return value.subarray(zeros);
  }

  private expectNumber(): void {
    if (this.tag !== tags.integer && this.tag !== tags.enumerated) {
      throw new EmrtdError("BER_INVALID", "A number has an unexpected tag");
    }
    if (this.valueLength === 0 || this.valueLength > 4096) {
      throw new EmrtdError("BER_INVALID", "A number is empty or too long");
    }
  }

  boolean(): boolean {
    this.expect(tags.boolean, "A truth value");
    if (this.valueLength !== 1) throw new EmrtdError("BER_INVALID", "A truth value must be one octet");
    return this.#source[this.valueStart] !== 0;
  }

  /** Primitive, or constructed from pieces, which are joined. */
  octetString(): Uint8Array {
    if (this.tag === tags.octetString) return this.value;
    return this.expect(tags.octetStringConstructed, "An octet string").joinPieces();
  }

  /**
   * The content of a context-specific tag that stands for an octet string. Indefinite-length encoders split these into
   * universal octet strings as well.
   */
  implicitOctetString(): Uint8Array {
    if (!this.constructed) return this.value;
    return this.joinPieces();
  }

  private joinPieces(): Uint8Array {
    const pieces: Uint8Array[] = [];
    for (const piece of this.iterate()) pieces.push(piece.octetString());
    return pieces.length === 1 ? (pieces[0] ?? new Uint8Array(0)) : concatAll(pieces);
  }

  bitString(): { readonly unusedBits: number; readonly bytes: Uint8Array } {
    this.expect(tags.bitString, "A bit string");
    const unusedBits = this.#source[this.valueStart] ?? 0;
    if (this.valueLength === 0 || unusedBits > 7 || (unusedBits > 0 && this.valueLength === 1)) {
      throw new EmrtdError("BER_INVALID", "A bit string has an invalid count of unused bits");
    }
    return { unusedBits, bytes: this.#source.subarray(this.valueStart + 1, this.valueEnd) };
  }

  /**
   * A bit string that stands for bytes, such as a signature. Its count of unused bits is signed by nobody, so that any
   * other than none is refused.
   */
  wholeBytes(what: string): Uint8Array {
    const { unusedBits, bytes } = this.bitString();
    if (unusedBits !== 0) throw new EmrtdError("BER_INVALID", `${what} is not a whole number of bytes`);
    return bytes;
  }

  /** Any of the character string types. Teletex strings are read as ISO 8859-1, which is what certificates hold. */
  text(): string {
    if (this.valueLength > 65_536) throw new EmrtdError("BER_TOO_LARGE", "A text is too long");
    switch (this.tag) {
      case tags.utf8String:
        return fromUtf8(this.value);
      case tags.printableString:
      case tags.ia5String:
      case tags.numericString:
      case tags.visibleString:
      case tags.teletexString:
      case tags.generalString:
        return fromLatin1(this.value);
      case tags.bmpString:
        return this.wideText(2);
      case tags.universalString:
        return this.wideText(4);
      default:
        throw new EmrtdError("BER_INVALID", "A text has an unexpected tag");
    }
  }

  private wideText(octets: 2 | 4): string {
    const value = this.value;
    if (value.length % octets !== 0)
      throw new EmrtdError("BER_INVALID", "A text has an incomplete character");
    const pieces: string[] = [];
    for (let offset = 0; offset < value.length; offset += octets) {
      const point = octets === 2 ? readUint16(value, offset) : readUint32(value, offset);
      if (point > 0x10ffff) throw new EmrtdError("BER_INVALID", "A text has an invalid character");
      pieces.push(String.fromCodePoint(point));
    }
    return pieces.join("");
  }

  /** UTCTime or GeneralizedTime. Seconds may be missing, a zone may be given: both occur in old certificates. */
  time(): Date {
    if (this.tag !== tags.utcTime && this.tag !== tags.generalizedTime) {
      throw new EmrtdError("BER_INVALID", "A time has an unexpected tag");
    }
    if (this.valueLength > 32) throw new EmrtdError("BER_INVALID", "A time is too long");
    return parseTime(fromLatin1(this.value), this.tag === tags.utcTime ? 2 : 4);
  }
}

function parseTime(text: string, yearDigits: 2 | 4): Date {
  const pattern =
    yearDigits === 2
      ? /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?()(Z|[+-]\d{4})$/
      : /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(?:[.,](\d{1,9}))?(Z|[+-]\d{4})?$/;
  const match = pattern.exec(text);
  if (match === null) throw new EmrtdError("BER_INVALID", "A time is malformed");
  const [, yearText, month, day, hours, minutes, seconds, fraction, zone] = match;
  const shortYear = Number(yearText);
  // RFC 5280: two digits from 50 mean the twentieth century.
  const year = yearDigits === 4 ? shortYear : shortYear + (shortYear >= 50 ? 1900 : 2000);
  const fields = [
    Number(month),
    Number(day),
    Number(hours),
    Number(minutes),
    Number(seconds ?? "0"),
  ] as const;
  const milliseconds = fraction ? Math.floor(Number(`0.${fraction}`) * 1000) : 0;
  const date = new Date(0);
  date.setUTCFullYear(year, fields[0] - 1, fields[1]);
  date.setUTCHours(fields[2], fields[3], fields[4], milliseconds);
  const unchanged =
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === fields[0] - 1 &&
    date.getUTCDate() === fields[1] &&
    date.getUTCHours() === fields[2] &&
    date.getUTCMinutes() === fields[3] &&
    date.getUTCSeconds() === fields[4];
  if (!unchanged) throw new EmrtdError("BER_INVALID", "A time does not exist");
  if (zone === undefined || zone === "Z") return date;
  const offsetHours = Number(zone.slice(1, 3));
  const offsetMinutes = Number(zone.slice(3, 5));
  if (offsetHours > 23 || offsetMinutes > 59)
    throw new EmrtdError("BER_INVALID", "A time zone does not exist");
  const sign = zone.startsWith("-") ? -1 : 1;
  return new Date(date.getTime() - sign * (offsetHours * 60 + offsetMinutes) * 60_000);
}

/** Reads the element that starts at `offset` and ignores what follows: see `end`, or use `readWhole`. */
export function readTlv(bytes: Uint8Array, offset = 0, limits: Partial<BerLimits> = {}): Tlv {
  const {
    maxBytes = defaultBerLimits.maxBytes,
    maxDepth = defaultBerLimits.maxDepth,
    maxNodes = defaultBerLimits.maxNodes,
  } = limits;
  if (!Number.isInteger(offset) || offset < 0 || offset > bytes.length) {
    throw new EmrtdError("BER_TRUNCATED", "The offset lies outside of the encoding");
  }
  const node = readNode(bytes, offset, bytes.length, 0, { maxDepth, nodesLeft: maxNodes });
  if (node.end - node.start > maxBytes) {
    throw new EmrtdError("BER_TOO_LARGE", "The encoding is larger than allowed");
  }
  return node;
}

/** Reads one element and refuses anything behind it. */
export function readWhole(bytes: Uint8Array, limits: Partial<BerLimits> = {}): Tlv {
  const node = readTlv(bytes, 0, limits);
  if (node.end !== bytes.length) throw new EmrtdError("BER_INVALID", "There are bytes behind the encoding");
  return node;
}
