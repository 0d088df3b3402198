import { CredentialError, malformedIn } from "../credential-error.ts";
import { CborFloat, type CborKey, CborSimple, CborTag, type CborValue } from "./value.ts";

const malformed = malformedIn("CBOR");

export type DecodeOptions = {
  maxBytes: number;
  /** Arrays, maps and tags inside of each other. */
  maxDepth?: number;
  /** Data items in all. An item of one byte costs some sixty bytes of memory once it is read. */
  maxItems?: number;
  /** For CBOR inside byte strings, which is decoded separately: one limit for all of it. */
  budget?: ItemBudget;
};

export type ItemBudget = { itemsLeft: number };

const defaultMaxItems = 20_000;

export function newBudget(): ItemBudget {
  return { itemsLeft: defaultMaxItems };
}

/**
 * Reads one data item that fills `bytes`. Lengths are definite, and map keys are integers or texts. Each key
 * occurs once, however it is encoded. Byte strings are views of `bytes`.
 */
export function decode(bytes: Uint8Array, options: DecodeOptions): CborValue {
  if (bytes.length > options.maxBytes) throw new CredentialError("too_large", "CBOR: too many bytes");
  const budget = options.budget ?? { itemsLeft: options.maxItems ?? defaultMaxItems };
  const reader = new Reader(bytes, options.maxDepth ?? 16, budget);
  const value = reader.item(0);
  if (!reader.isAtEnd()) throw malformed("bytes after the data item");
  return value;
}

const texts = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #maxDepth: number;
  readonly #budget: ItemBudget;
  #at = 0;

  constructor(bytes: Uint8Array, maxDepth: number, budget: ItemBudget) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#maxDepth = maxDepth;
    this.#budget = budget;
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  item(depth: number): CborValue {
    if (depth > this.#maxDepth) throw malformed("nested too deeply");
    if (--this.#budget.itemsLeft < 0) throw new CredentialError("too_large", "CBOR: too many data items");
    const start = this.#at;
    const first = this.#take(1)[0] ?? 0;
    const major = first >> 5;
    const info = first & 0x1f;
    if (major === 7) return this.#simple(info);
    const argument = this.#argument(info);
    switch (major) {
      case 0:
        return argument;
      case 1:
        return typeof argument === "bigint" || argument === Number.MAX_SAFE_INTEGER
          ? -1n - BigInt(argument)
          : -1 - argument;
      case 2:
        return this.#take(argument);
      case 3:
        return this.#text(argument);
      case 4:
        return this.#array(this.#count(argument), depth + 1);
      case 5:
        return this.#map(this.#count(argument), depth + 1);
      default: {
        if (typeof argument === "bigint") throw malformed("unknown tag");
        const content = this.item(depth + 1);
        return new CborTag(argument, content, this.#bytes.subarray(start, this.#at));
      }
    }
  }

  #argument(info: number): number | bigint {
    if (info < 24) return info;
    if (info > 27) throw malformed("indefinite or reserved length");
    const size = 1 << (info - 24);
    const at = this.#at;
    this.#take(size);
    if (size === 1) return this.#view.getUint8(at);
    if (size === 2) return this.#view.getUint16(at);
    if (size === 4) return this.#view.getUint32(at);
    const wide = this.#view.getBigUint64(at);
    return wide <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(wide) : wide;
  }

  #simple(info: number): CborValue {
    const at = this.#at;
    switch (info) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
        return null;
      case 24: {
        const value = this.#take(1)[0] ?? 0;
        if (value < 32) throw malformed("simple value in two bytes");
        return new CborSimple(value);
      }
      case 25:
        this.#take(2);
        return new CborFloat(halfFloat(this.#view.getUint16(at)));
      case 26:
        this.#take(4);
        return new CborFloat(this.#view.getFloat32(at));
      case 27:
        this.#take(8);
        return new CborFloat(this.#view.getFloat64(at));
      default:
        if (info > 27) throw malformed("break or reserved value");
        return new CborSimple(info);
    }
  }

  #text(length: number | bigint): string {
    try {
      return texts.decode(this.#take(length));
    } catch (error) {
      if (error instanceof CredentialError) throw error;
      throw malformed("text that is no UTF-8");
    }
  }

  /** Allocates nothing for items that cannot exist. */
  #count(length: number | bigint): number {
    if (typeof length === "bigint" || length > this.#bytes.length - this.#at) throw malformed("cut short");
    return length;
  }

  #array(length: number, depth: number): readonly CborValue[] {
    const items: CborValue[] = [];
    for (let index = 0; index < length; index++) items.push(this.item(depth));
    return items;
  }

  #map(length: number, depth: number): ReadonlyMap<CborKey, CborValue> {
    const map = new Map<CborKey, CborValue>();
    for (let index = 0; index < length; index++) {
      const key = this.item(depth);
      if (typeof key !== "number" && typeof key !== "bigint" && typeof key !== "string") {
        throw malformed("key that is neither integer nor text");
      }
      if (map.has(key)) throw malformed("duplicate key");
      map.set(key, this.item(depth));
    }
    return map;
  }

  #take(length: number | bigint): Uint8Array {
    if (typeof length === "bigint" || length > this.#bytes.length - this.#at) throw malformed("cut short");
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }
}

function halfFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
