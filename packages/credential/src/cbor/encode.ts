import { concat, utf8 } from "../bytes.ts";
import { CborFloat, CborSimple, CborTag, type CborValue, isArray } from "./value.ts";

/**
 * In the preferred form: shortest lengths, definite.
 * The entries of a map stay in their order; nothing in an mdoc depends on it.
 */
export function encode(value: CborValue): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  write(value, parts);
  return concat(...parts);
}

function write(value: CborValue, parts: Uint8Array[]): void {
  if (value === null) parts.push(Uint8Array.of(0xf6));
  else if (typeof value === "boolean") parts.push(Uint8Array.of(value ? 0xf5 : 0xf4));
  else if (typeof value === "number" || typeof value === "bigint") parts.push(integer(value));
  else if (typeof value === "string") {
    const bytes = utf8(value);
    parts.push(head(3, bytes.length), bytes);
  } else if (value instanceof Uint8Array) parts.push(head(2, value.length), value);
  else if (value instanceof CborTag) {
    parts.push(head(6, value.tag));
    write(value.content, parts);
  } else if (value instanceof CborFloat) {
    const bytes = new Uint8Array(9);
    bytes[0] = 0xfb;
    new DataView(bytes.buffer).setFloat64(1, value.value);
    parts.push(bytes);
  } else if (value instanceof CborSimple) {
    parts.push(value.value < 24 ? Uint8Array.of(0xe0 | value.value) : Uint8Array.of(0xf8, value.value));
  } else if (isArray(value)) {
    parts.push(head(4, value.length));
    for (const item of value) write(item, parts);
  } else {
    parts.push(head(5, value.size));
    for (const [key, item] of value) {
      write(key, parts);
      write(item, parts);
    }
  }
}

/** A number with a fraction is a mistake of the caller, which `BigInt` refuses. */
function integer(value: number | bigint): Uint8Array {
  if (typeof value === "number" && Number.isSafeInteger(value))
    return value < 0 ? head(1, -1 - value) : head(0, value);
  const wide = BigInt(value);
  return wide < 0n ? head(1, -1n - wide) : head(0, wide);
}

function head(major: number, argument: number | bigint): Uint8Array {
  const first = major << 5;
  if (argument < 24) return Uint8Array.of(first | Number(argument));
  if (argument < 0x100) return Uint8Array.of(first | 24, Number(argument));
  const [info, size] = argument < 0x1_0000 ? [25, 2] : argument < 0x1_0000_0000 ? [26, 4] : [27, 8];
  const bytes = new Uint8Array(1 + size);
  bytes[0] = first | info;
  const view = new DataView(bytes.buffer);
  if (size === 2) view.setUint16(1, Number(argument));
  else if (size === 4) view.setUint32(1, Number(argument));
  else view.setBigUint64(1, BigInt(argument));
  return bytes;
}
