import { EmrtdError } from "./emrtd-error.ts";

const hexPairs: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

export function toHex(bytes: Uint8Array): string {
  return hexBetween(bytes, 0, bytes.length);
}

/** Reads `bytes` from `start` up to `end`. */
export function hexBetween(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let offset = start; offset < end; offset++) text += hexPairs[bytes[offset] ?? 0];
  return text;
}

/** Whitespace between digits is allowed, so that published examples can be typed in as printed. */
export function fromHex(text: string): Uint8Array {
  const digits = text.replace(/\s+/g, "");
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw new EmrtdError("BYTES_INVALID", "Hexadecimal text must be an even number of hexadecimal digits");
  }
  const bytes = new Uint8Array(digits.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return concatAll(parts);
}

/** For a number of parts that comes from the input: an argument list that long would overflow the stack. */
export function concatAll(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && hasAt(a, 0, b);
}

/** For MACs and other secrets: the time taken depends on the lengths alone. */
export function equalConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) {
    difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  }
  return difference === 0;
}

export function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return hasAt(bytes, 0, prefix);
}

/** Whether `few` occurs at this position. */
export function hasAt(bytes: Uint8Array, start: number, few: Uint8Array): boolean {
  if (start + few.length > bytes.length) return false;
  for (let index = 0; index < few.length; index++) if (bytes[start + index] !== few[index]) return false;
  return true;
}

function requireRoom(bytes: Uint8Array, offset: number, length: number): void {
  if (!Number.isInteger(offset) || offset < 0 || offset + length > bytes.length) {
    throw new EmrtdError("BYTES_INVALID", `Needed ${length} more bytes than there are`);
  }
}

export function readUint8(bytes: Uint8Array, offset: number): number {
  requireRoom(bytes, offset, 1);
  return bytes[offset] ?? 0;
}

export function readUint16(bytes: Uint8Array, offset: number): number {
  requireRoom(bytes, offset, 2);
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

export function readUint32(bytes: Uint8Array, offset: number): number {
  requireRoom(bytes, offset, 4);
  return readUint16(bytes, offset) * 0x10000 + readUint16(bytes, offset + 2);
}

/** Big-endian, exactly `length` bytes. */
export function uintBytes(value: number | bigint, length: number): Uint8Array {
  let rest = BigInt(value);
  const bytes = new Uint8Array(length);
  if (rest < 0n) throw new EmrtdError("BYTES_INVALID", "An unsigned number cannot be negative");
  for (let index = length - 1; index >= 0; index--) {
    bytes[index] = Number(rest & 255n);
    rest >>= 8n;
  }
  if (rest !== 0n) throw new EmrtdError("BYTES_INVALID", `The number does not fit in ${length} bytes`);
  return bytes;
}

/** Big-endian, unsigned. */
export function bytesToBigInt(bytes: Uint8Array): bigint {
  return bigIntBetween(bytes, 0, bytes.length);
}

/** Reads `bytes` from `start` up to `end`. */
export function bigIntBetween(bytes: Uint8Array, start: number, end: number): bigint {
  return BigInt(`0x0${hexBetween(bytes, start, end)}`);
}

/** Big-endian, unsigned, without leading zeros; zero is one zero byte. */
export function bigIntToBytes(value: bigint): Uint8Array {
  if (value < 0n) throw new EmrtdError("BYTES_INVALID", "An unsigned number cannot be negative");
  const digits = value.toString(16);
  return fromHex(digits.length % 2 === 0 ? digits : `0${digits}`);
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** One for all: making a decoder costs more than most texts do. */
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function fromUtf8(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw new EmrtdError("BYTES_INVALID", "The text is not valid UTF-8");
  }
}

/** ISO 8859-1, byte for code point; the web's own "latin1" decoder is Windows-1252 and would change bytes. */
export function fromLatin1(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += 4096) {
    pieces.push(String.fromCharCode(...bytes.subarray(offset, offset + 4096)));
  }
  return pieces.join("");
}

export function latin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 255) throw new EmrtdError("BYTES_INVALID", "The text has a character outside ISO 8859-1");
    bytes[index] = unit;
  }
  return bytes;
}
