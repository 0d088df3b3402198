import type { Dice } from "../../../scripts/fuzz/dice.ts";
import type { FuzzReader } from "../../../scripts/fuzz/fuzz-target.ts";
import { readTlv, type Tlv } from "../src/ber/read.ts";
import { concat, concatAll, latin1, uintBytes } from "../src/bytes.ts";

/**
 * `isText`: takes text of a fixed shape, so characters are exchanged more often than structure is damaged.
 */
export type ChipReader = Omit<FuzzReader, "damage"> & { readonly isText?: true };

const maxInputBytes = 64 * 1024;
const interestingBytes = [
  0x00, 0x01, 0x1f, 0x20, 0x24, 0x30, 0x31, 0x3c, 0x5f, 0x7f, 0x80, 0x81, 0x84, 0x88, 0xa0, 0xff,
];
const interestingTags = [
  "02",
  "03",
  "04",
  "05",
  "06",
  "17",
  "24",
  "30",
  "31",
  "7f2e",
  "7f60",
  "a0",
  "a1",
  "80",
  "5f2e",
  "5f1f",
];
const mrzCharacters = [..."<<<ABCDOISZ0125896"].map((character) => character.charCodeAt(0));

/**
 * A hostile input made from the seeds: random bytes,
 * damaged bytes, or a damaged structure with corrected lengths.
 */
export function hostileInput(isText: boolean, seeds: readonly Uint8Array[], dice: Dice): Uint8Array {
  if (seeds.length === 0 || dice.chance(20)) return dice.bytes(dice.below(dice.chance(10) ? 2000 : 64));
  let bytes = dice.pick(seeds);
  if (isText && !dice.chance(4)) return exchangeCharacters(bytes, dice);
  for (let rounds = 1 + dice.below(3); rounds > 0; rounds--) {
    bytes = dice.chance(3) ? damageBytes(bytes, seeds, dice) : damageStructure(bytes, dice);
    if (bytes.length > maxInputBytes) bytes = bytes.subarray(0, maxInputBytes);
  }
  return bytes;
}

function exchangeCharacters(bytes: Uint8Array, dice: Dice): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let count = 1 + dice.below(3); count > 0; count--)
    copy[dice.below(copy.length)] = dice.pick(mrzCharacters);
  return copy;
}

function damageBytes(bytes: Uint8Array, seeds: readonly Uint8Array[], dice: Dice): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = dice.below(copy.length);
  const span = 1 + dice.below(dice.chance(4) ? 64 : 4);
  switch (dice.below(9)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << dice.below(8));
      return copy;
    case 1:
      copy[at] = dice.pick(interestingBytes);
      return copy;
    case 2:
      copy[at] = dice.pick(mrzCharacters);
      return copy;
    case 3:
      copy.set(uintBytes(dice.pick([0, 1, 0x7fff, 0xffff]), 2).subarray(0, copy.length - at), at);
      return copy;
    case 4:
      copy.set(uintBytes(dice.pick([0, 1, 0x7fff_ffff, 0xffff_ffff]), 4).subarray(0, copy.length - at), at);
      return copy;
    case 5:
      return copy.subarray(0, at);
    case 6:
      return concat(copy.subarray(0, at), copy.subarray(at + span));
    case 7:
      return concat(
        copy.subarray(0, at),
        dice.chance(2) ? dice.bytes(span) : copy.subarray(at, at + span),
        copy.subarray(at),
      );
    default: {
      const other = dice.pick(seeds);
      return concat(copy.subarray(0, at), other.subarray(dice.below(other.length)));
    }
  }
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

function damageStructure(bytes: Uint8Array, dice: Dice): Uint8Array {
  const root = parseTree(bytes);
  if (root === null) return damageBytes(bytes, [bytes], dice);
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
      node.tag = hexBytes(dice.pick(interestingTags));
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
        node.value = damageBytes(node.value, [node.value], dice);
  }
  return encode(root, 0);
}

/** Puts a node inside many others of its kind. */
function wrap(node: Node, dice: Dice): void {
  const tag = dice.pick([hexBytes("30"), hexBytes("24"), hexBytes("a0"), node.tag]);
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

function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
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

/** For readers of text: seeds are given as strings. */
export function textSeeds(...texts: readonly string[]): readonly Uint8Array[] {
  return texts.map((text) => latin1(text));
}
