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
  if (!seedTrees.has(bytes)) seedTrees.set(bytes, treeOf(bytes));
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

/** A value with its children, including those inside byte strings that hold CBOR. */
type Tree = { readonly value: CborValue; readonly children: readonly Tree[]; readonly nodes: number };

function damageStructure(bytes: Uint8Array, dice: Dice): Uint8Array | null {
  const root = treeOf(bytes);
  if (root === null) return null;
  const chosen = dice.below(root.nodes);
  const other = nodeAt(root, dice.below(root.nodes)).value;
  return encode(rewritten(root, chosen, (value) => damaged(value, other, dice)));
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

function grow(value: CborValue): Tree {
  const inner = value instanceof Uint8Array && value.length > 2 ? parse(value) : null;
  const inside = inner !== null ? [inner] : insideOf(value);
  const children = inside.map(grow);
  return { value, children, nodes: children.reduce((sum, { nodes }) => sum + nodes, 1) };
}

function insideOf(value: CborValue): readonly CborValue[] {
  if (isArray(value)) return value;
  if (isMap(value)) return [...value.values()];
  return value instanceof CborTag ? [value.content] : [];
}

/** The child that holds the node of this number, and its number in there. */
function childWith(tree: Tree, index: number): { at: number; child: Tree; index: number } {
  let left = index - 1;
  for (const [at, child] of tree.children.entries()) {
    if (left < child.nodes) return { at, child, index: left };
    left -= child.nodes;
  }
  throw new Error("no such node");
}

function nodeAt(tree: Tree, index: number): Tree {
  if (index === 0) return tree;
  const inner = childWith(tree, index);
  return nodeAt(inner.child, inner.index);
}

/** The same with one node changed. Byte strings around it are written again as they became. */
function rewritten(tree: Tree, index: number, change: (value: CborValue) => CborValue): CborValue {
  if (index === 0) return change(tree.value);
  const { at, child, index: within } = childWith(tree, index);
  const changed = rewritten(child, within, change);
  const { value } = tree;
  if (isArray(value)) return value.with(at, changed);
  if (isMap(value)) {
    const key = [...value.keys()][at] ?? "";
    return new Map(value).set(key, changed);
  }
  if (value instanceof CborTag) return new CborTag(value.tag, changed);
  return encode(changed);
}

/** The trees of the seeds, which are damaged again and again. */
const seedTrees = new Map<Uint8Array, Tree | null>();

function treeOf(bytes: Uint8Array): Tree | null {
  const known = seedTrees.get(bytes);
  if (known !== undefined) return known;
  const value = parse(bytes);
  return value === null ? null : grow(value);
}

function parse(bytes: Uint8Array): CborValue {
  try {
    return decode(bytes, { maxBytes: maxInputBytes });
  } catch {
    return null;
  }
}
