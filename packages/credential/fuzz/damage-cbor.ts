import { damageBytes, hostileInputs, maxInputBytes } from "../../../scripts/fuzz/damage.ts";
import type { Dice } from "../../../scripts/fuzz/dice.ts";
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

const scraps = [
  0x00, 0x18, 0x1b, 0x20, 0x40, 0x5f, 0x60, 0x78, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xd8, 0xf4, 0xf6, 0xf7, 0xf9,
  0xff,
].map((head) => Uint8Array.of(head));
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

/** CBOR is damaged as a structure, also inside of byte strings. */
export const damageCbor = hostileInputs((bytes, dice) => {
  const root = parse(bytes);
  if (root === null) return null;
  const nodes = nodesOf(root);
  const index = dice.below(nodes.length);
  return encode(rewritten(root, index, (value) => damaged(value, dice.pick(nodes), dice)));
}, scraps);

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
  if (value instanceof Uint8Array) return damageBytes(value, [value], scraps, dice);
  if (typeof value === "string")
    return `${value.slice(0, dice.below(value.length + 1))}${dice.chance(2) ? "x" : ""}`;
  if (typeof value === "number") return value + dice.pick([-1, 1, 100]);
  let nested: CborValue = value;
  for (let depth = dice.below(20); depth > 0; depth--)
    nested = dice.chance(2) ? [nested] : new Map([["x", nested]]);
  return nested;
}

/** A value and all that is inside of it, also in byte strings that hold CBOR. */
function nodesOf(value: CborValue): CborValue[] {
  return [value, ...insideOf(value).flatMap(nodesOf)];
}

function insideOf(value: CborValue): readonly CborValue[] {
  if (isArray(value)) return value;
  if (isMap(value)) return [...value.values()];
  if (value instanceof CborTag) return [value.content];
  const inner = embeddedIn(value);
  return inner === null ? [] : [inner];
}

/** The same with the node of this number changed. Byte strings around it are written again as they became. */
function rewritten(root: CborValue, index: number, change: (value: CborValue) => CborValue): CborValue {
  let left = index;
  const visit = (value: CborValue): CborValue => {
    if (left-- === 0) return change(value);
    if (isArray(value)) return value.map(visit);
    if (isMap(value)) return new Map([...value].map(([key, entry]) => [key, visit(entry)]));
    if (value instanceof CborTag) return new CborTag(value.tag, visit(value.content));
    const inner = embeddedIn(value);
    if (inner === null) return value;
    const before = left;
    const changed = visit(inner);
    return before >= 0 && left < 0 ? encode(changed) : value;
  };
  return visit(root);
}

function embeddedIn(value: CborValue): CborValue {
  return value instanceof Uint8Array && value.length > 2 ? parse(value) : null;
}

function parse(bytes: Uint8Array): CborValue {
  try {
    return decode(bytes, { maxBytes: maxInputBytes });
  } catch {
    return null;
  }
}
