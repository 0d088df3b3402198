import type { Dice } from "../../emrtd/fuzz/dice.ts";
import { decode } from "../src/cbor/decode.ts";
import { encode } from "../src/cbor/encode.ts";
import {
  CborFloat,
  type CborKey,
  CborSimple,
  CborTag,
  type CborValue,
  isArray,
  isMap,
} from "../src/cbor/value.ts";

const maxInputBytes = 64 * 1024;
const heads = [
  0x00, 0x18, 0x1b, 0x20, 0x40, 0x5f, 0x60, 0x78, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xd8, 0xf4, 0xf6, 0xf7, 0xf9,
  0xff,
];
const values: readonly CborValue[] = [
  null,
  true,
  0,
  -1,
  24,
  2 ** 53 - 1,
  2n ** 64n - 1n,
  new CborFloat(1),
  new CborFloat(Number.NaN),
  new CborSimple(23),
  "",
  "x",
  "nameSpaces",
  "org.iso.18013.5.1.mDL",
  "2026-02-30T00:00:00Z",
  new Uint8Array(),
  new Uint8Array(32),
  new Uint8Array(3000),
  [],
  new Map(),
  new CborTag(24, new Uint8Array()),
  new CborTag(0, "2026-11-18T00:00:00Z"),
  new CborTag(1004, "2026-11-18"),
  new CborTag(18, []),
];
const keys: readonly CborKey[] = [
  "x",
  "documents",
  "nameSpaces",
  "deviceMac",
  "status",
  1,
  2,
  -1,
  -2,
  -4,
  16,
  33,
  65533,
];

/**
 * Damages CBOR as a structure where the bytes are CBOR, also inside of byte strings, and any bytes as bytes.
 */
export function damageCbor(seeds: readonly Uint8Array[], dice: Dice): Uint8Array {
  if (seeds.length === 0 || dice.chance(30)) return dice.bytes(dice.below(dice.chance(10) ? 2000 : 64));
  let bytes = dice.pick(seeds);
  for (let rounds = 1 + dice.below(3); rounds > 0; rounds--) {
    bytes = (dice.chance(3) ? null : damageStructure(bytes, dice)) ?? damageBytes(bytes, seeds, dice);
  }
  return bytes.subarray(0, maxInputBytes);
}

function damageBytes(bytes: Uint8Array, seeds: readonly Uint8Array[], dice: Dice): Uint8Array {
  const at = dice.below(bytes.length + 1);
  const span = 1 + dice.below(dice.chance(4) ? 64 : 4);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (dice.below(6)) {
    case 0:
      return Buffer.concat([
        before,
        Buffer.from([(after[0] ?? 0) ^ (1 << dice.below(8))]),
        after.subarray(1),
      ]);
    case 1:
      return Buffer.concat([before, Buffer.from([dice.pick(heads)]), after.subarray(1)]);
    case 2:
      return Buffer.concat([before, after.subarray(span)]);
    case 3:
      return Buffer.concat([before, dice.bytes(span), after]);
    case 4:
      return before;
    default: {
      const other = dice.pick(seeds);
      return Buffer.concat([before, other.subarray(dice.below(other.length))]);
    }
  }
}

function damageStructure(bytes: Uint8Array, dice: Dice): Uint8Array | null {
  const root = parse(bytes);
  if (root === null) return null;
  const counted = { left: 0 };
  walk(root, (value) => {
    counted.left++;
    return value;
  });
  const chosen = dice.below(counted.left);
  let index = 0;
  let other: CborValue = null;
  const donor = dice.below(counted.left);
  walk(root, (value) => {
    if (index++ === donor) other = value;
    return value;
  });
  index = 0;
  return encode(walk(root, (value) => (index++ === chosen ? damaged(value, other, dice) : value)));
}

function damaged(value: CborValue, other: CborValue, dice: Dice): CborValue {
  if (dice.chance(4)) return dice.pick(values);
  if (dice.chance(6)) return other;
  if (isMap(value)) {
    const entries = [...value];
    const at = dice.below(entries.length);
    if (dice.chance(3)) entries.splice(at, 1);
    else if (dice.chance(2)) entries.reverse();
    else entries.push([dice.pick(keys), dice.chance(2) ? other : dice.pick(values)]);
    return new Map(entries);
  }
  if (isArray(value)) {
    const items = [...value];
    if (dice.chance(2)) items.splice(dice.below(items.length), 1);
    else for (let copies = 1 + dice.below(dice.chance(10) ? 300 : 3); copies > 0; copies--) items.push(other);
    return items;
  }
  if (value instanceof CborTag)
    return new CborTag(dice.pick([0, 1, 18, 24, 61, 1004, value.tag]), value.content);
  if (value instanceof Uint8Array) return damageBytes(value, [value], dice);
  if (typeof value === "string")
    return `${value.slice(0, dice.below(value.length + 1))}${dice.chance(2) ? "x" : ""}`;
  if (typeof value === "number") return value + dice.pick([-1, 1, 100]);
  let nested: CborValue = value;
  for (let depth = dice.below(20); depth > 0; depth--)
    nested = dice.chance(2) ? [nested] : new Map([["x", nested]]);
  return nested;
}

/** Byte strings that hold CBOR are walked into, and written again as they became. */
function walk(value: CborValue, visit: (value: CborValue) => CborValue): CborValue {
  const changed = visit(value);
  if (changed !== value) return changed;
  if (isArray(value)) return value.map((item) => walk(item, visit));
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, walk(item, visit)]));
  if (value instanceof CborTag) return new CborTag(value.tag, walk(value.content, visit));
  if (value instanceof Uint8Array && value.length > 2) {
    const inner = parse(value);
    if (inner !== null) return encode(walk(inner, visit));
  }
  return value;
}

/** Seeds and what they hold are parsed once. */
const parsed = new WeakMap<Uint8Array, { value: CborValue }>();

function parse(bytes: Uint8Array): CborValue {
  const known = parsed.get(bytes);
  if (known !== undefined) return known.value;
  let value: CborValue = null;
  try {
    value = decode(bytes, { maxBytes: maxInputBytes });
  } catch {
    // Not CBOR.
  }
  parsed.set(bytes, { value });
  return value;
}
