/**
 * A data item of CBOR (RFC 8949). Integers beyond 2^53 are bigints.
 * A float is no integer, even where it has the value of one.
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
  readonly #received: Uint8Array | null;

  constructor(tag: number, content: CborValue, received: Uint8Array | null = null) {
    this.tag = tag;
    this.content = content;
    this.#received = received;
  }

  /** Tag and content as received, which digests and signatures cover. Null for a tag that was made here. */
  get received(): Uint8Array | null {
    return this.#received;
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
