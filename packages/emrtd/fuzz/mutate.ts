import { damageBytes, hostileInputs } from "../../../scripts/fuzz/damage.ts";
import type { Dice } from "../../../scripts/fuzz/dice.ts";
import type { FuzzReader } from "../../../scripts/fuzz/fuzz-target.ts";
import { readTlv, type Tlv } from "../src/ber/read.ts";
import { concat, concatAll, fromHex, latin1, uintBytes } from "../src/bytes.ts";

/**
 * `isText`: takes text of a fixed shape, so characters are exchanged more often than structure is damaged.
 */
export type ChipReader = Omit<FuzzReader, "damage"> & { readonly isText?: true };

const interestingTags = "02 03 04 05 06 17 24 30 31 7f2e 7f60 a0 a1 80 5f2e 5f1f".split(" ").map(fromHex);
const mrzCharacters = latin1("<<<ABCDOISZ0125896");
const scraps = [
  ..."00 01 1f 20 24 30 31 5f 7f 80 81 84 88 a0 ff".split(" ").map(fromHex),
  ..."7fff ffff 00000000 7fffffff ffffffff".split(" ").map(fromHex),
  ...[...mrzCharacters].map((character) => Uint8Array.of(character)),
];

export const damageBer = hostileInputs(damageStructure, scraps);
/** Characters are exchanged more often than bytes are damaged. */
export const damageZone = hostileInputs(exchangeCharacters, scraps);

function exchangeCharacters(bytes: Uint8Array, dice: Dice): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let count = 1 + dice.below(3); count > 0; count--)
    copy[dice.below(copy.length)] = mrzCharacters[dice.below(mrzCharacters.length)] ?? 0;
  return copy;
}

type Node = {
  tag: Uint8Array;
  /** Undefined when the value is taken as bytes. */
  children: Node[] | null;
  value: Uint8Array;
  /** Written in place of the right length. */
  length: Uint8Array | null;
  indefinite: boolean;
};

function damageStructure(bytes: Uint8Array, dice: Dice): Uint8Array | null {
  const root = parseTree(bytes);
  if (root === null) return null;
  const nodes: { readonly node: Node; readonly parent: Node | null }[] = [];
  const collect = (node: Node, parent: Node | null) => {
    nodes.push({ node, parent });
    for (const child of node.children ?? []) collect(child, node);
  };
  collect(root, null);
  const { node, parent } = dice.pick(nodes);
  switch (dice.below(12)) {
    case 0:
      node.length = hostileLength(dice);
      break;
    case 1:
      node.tag = dice.pick(interestingTags);
      break;
    case 2:
      node.tag = dice.bytes(1 + dice.below(4));
      break;
    case 3:
      node.indefinite = true;
      break;
    case 4:
      parent?.children?.splice(parent.children.indexOf(node), 1);
      break;
    case 5:
      for (let copies = 1 + dice.below(dice.chance(10) ? 500 : 4); copies > 0; copies--)
        parent?.children?.push(node);
      break;
    case 6:
      parent?.children?.reverse();
      break;
    case 7:
      node.children = null;
      node.value = dice.bytes(dice.below(40));
      break;
    case 8:
      wrap(node, dice);
      break;
    case 9:
      node.children = null;
      node.value = new Uint8Array(0);
      break;
    case 10: {
      const other = dice.pick(nodes).node;
      node.children = null;
      node.value = encode(other, 0);
      break;
    }
    default:
      if (node.children === null && node.value.length > 0)
        node.value = damageBytes(node.value, [node.value], scraps, dice);
  }
  return encode(root, 0);
}

/** Puts a node inside many others of its kind. */
function wrap(node: Node, dice: Dice): void {
  const tag = dice.pick([Uint8Array.of(0x30), Uint8Array.of(0x24), Uint8Array.of(0xa0), node.tag]);
  const indefinite = dice.chance(2);
  for (let depth = 1 + dice.below(dice.chance(5) ? 60 : 4); depth > 0; depth--) {
    const inner: Node = { ...node };
    node.tag = tag;
    node.children = [inner];
    node.indefinite = indefinite;
    node.length = null;
  }
}

function hostileLength(dice: Dice): Uint8Array {
  return dice.pick([
    Uint8Array.of(0),
    Uint8Array.of(0x7f),
    Uint8Array.of(0x80),
    Uint8Array.of(0x81, dice.below(256)),
    Uint8Array.of(0x82, 0xff, 0xff),
    Uint8Array.of(0x84, 0x7f, 0xff, 0xff, 0xff),
    Uint8Array.of(0x84, 0xff, 0xff, 0xff, 0xff),
    Uint8Array.of(0x84, 0, 0, 0, dice.below(256)),
    Uint8Array.of(0x88, 0, 0, 0, 0, 0, 0, 0, 1),
    Uint8Array.of(0xff),
  ]);
}

function parseTree(bytes: Uint8Array): Node | null {
  try {
    return toNode(readTlv(bytes, 0, { maxNodes: 2000 }), 0);
  } catch {
    return null;
  }
}

function toNode(tlv: Tlv, depth: number): Node {
  const node: Node = {
    tag: tagBytes(tlv.tag),
    children: null,
    value: tlv.value,
    length: null,
    indefinite: tlv.indefinite,
  };
  if (depth > 20) return node;
  try {
    if (tlv.constructed) node.children = tlv.children().map((child) => toNode(child, depth + 1));
    else if (tlv.tag === 0x04 && tlv.valueLength > 4) node.children = nested(tlv.value, depth);
  } catch {
    node.children = null;
  }
  return node;
}

/** Octet strings often hold another encoding, which is worth damaging from the inside. */
function nested(value: Uint8Array, depth: number): Node[] | null {
  const inner = readTlv(value, 0, { maxNodes: 2000 });
  return inner.end === value.length ? [toNode(inner, depth + 1)] : null;
}

function tagBytes(tag: number): Uint8Array {
  const octets = tag > 0xff_ffff ? 4 : tag > 0xffff ? 3 : tag > 0xff ? 2 : 1;
  return uintBytes(tag, octets);
}

function encode(node: Node, depth: number): Uint8Array {
  const value =
    node.children === null || depth > 200
      ? node.value
      : concatAll(node.children.map((child) => encode(child, depth + 1)));
  if (node.indefinite) return concat(node.tag, Uint8Array.of(0x80), value, Uint8Array.of(0, 0));
  return concat(node.tag, node.length ?? lengthOf(value.length), value);
}

function lengthOf(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const octets = length > 0xff_ffff ? 4 : length > 0xffff ? 3 : length > 0xff ? 2 : 1;
  return concat(Uint8Array.of(0x80 | octets), uintBytes(length, octets));
}
