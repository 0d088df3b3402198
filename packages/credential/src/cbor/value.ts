/**
 * A data item of CBOR (RFC 8949). Integers beyond 2^53 are bigints. A float is no integer, even where it has
 * the value of one.
 */
export type CborValue =
  | number
  | bigint
  | string
  | boolean
  | null
  | Uint8Array
  | readonly CborValue[]
  | CborMap
  | CborTag
  | CborFloat
  | CborSimple;

export type CborKey = number | bigint | string;
export type CborMap = ReadonlyMap<CborKey, CborValue>;

export class CborTag {
  readonly tag: number;
  readonly content: CborValue;

  constructor(tag: number, content: CborValue) {
    this.tag = tag;
    this.content = content;
  }
}

export class CborFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** `undefined` (23) and the simple values that have no meaning yet. */
export class CborSimple {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export function isMap(value: CborValue | undefined): value is CborMap {
  return value instanceof Map;
}

export function isArray(value: CborValue | undefined): value is readonly CborValue[] {
  return Array.isArray(value);
}

/** `#6.24(bstr)`: CBOR inside of a byte string, which keeps the bytes that were signed. */
export function embedded(bytes: Uint8Array): CborTag {
  return new CborTag(24, bytes);
}
