import { EmrtdError } from "../emrtd-error.ts";

/**
 * DES and two-key triple DES (FIPS 46-3). Documents still use it for BAC. Neither browsers nor current
 * OpenSSL offer single DES, which the retail MAC needs. It protects one reading session only.
 */

const blockBytes = 8;

// Positions in the tables are those of the standard: bit 1 is the most significant.
const initialPermutation = [
  58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40,
  32, 24, 16, 8, 57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5,
  63, 55, 47, 39, 31, 23, 15, 7,
] as const;
const roundPermutation = [
  16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22,
  11, 4, 25,
] as const;
const keyChoice1 = [
  57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
  63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
] as const;
const keyChoice2 = [
  14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47,
  55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
] as const;
const keyRotations = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1] as const;
// Each box is four rows of sixteen hexadecimal digits.
const substitutionBoxes = [
  "e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d",
  "f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9",
  "a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c",
  "7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e",
  "2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453",
  "c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d",
  "4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c",
  "d2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b",
] as const;

/** A permutation of 64 bits as one table per input byte, so that a block costs eight lookups. */
type BytePermutation = {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
};

function tabulate(sourceOfBit: readonly number[]): BytePermutation {
  const high = new Uint32Array(8 * 256);
  const low = new Uint32Array(8 * 256);
  sourceOfBit.forEach((source, target) => {
    const byte = (source - 1) >> 3;
    const mask = 0x80 >> ((source - 1) & 7);
    const table = target < 32 ? high : low;
    const bit = (0x80000000 >>> (target & 31)) >>> 0;
    for (let value = 0; value < 256; value++) {
      if ((value & mask) !== 0) table[byte * 256 + value] = ((table[byte * 256 + value] ?? 0) | bit) >>> 0;
    }
  });
  return { high, low };
}

function invert(permutation: readonly number[]): number[] {
  const inverse = new Array<number>(permutation.length).fill(0);
  permutation.forEach((source, target) => {
    inverse[source - 1] = target + 1;
  });
  return inverse;
}

const initialTable = tabulate(initialPermutation);
const finalTable = tabulate(invert(initialPermutation));

/** Substitution followed by the round permutation: eight tables of 64 words. */
const roundTable = buildRoundTable();

function buildRoundTable(): Uint32Array {
  const table = new Uint32Array(8 * 64);
  const targetOf = invert(roundPermutation);
  substitutionBoxes.forEach((rows, box) => {
    const digits = rows.replaceAll(" ", "");
    for (let input = 0; input < 64; input++) {
      const row = ((input >> 4) & 2) | (input & 1);
      const column = (input >> 1) & 15;
      const output = Number.parseInt(digits.charAt(row * 16 + column), 16);
      let word = 0;
      for (let bit = 0; bit < 4; bit++) {
        if ((output & (8 >> bit)) !== 0) word |= 0x80000000 >>> ((targetOf[box * 4 + bit] ?? 1) - 1);
      }
      table[box * 64 + input] = word >>> 0;
    }
  });
  return table;
}

/** Sixteen rounds of eight six-bit groups. */
type KeySchedule = Uint8Array;

function scheduleKey(key: Uint8Array): KeySchedule {
  const bits = keyChoice1.map((source) => ((key[(source - 1) >> 3] ?? 0) >> (7 - ((source - 1) & 7))) & 1);
  let left = bits.slice(0, 28);
  let right = bits.slice(28);
  const schedule = new Uint8Array(16 * 8);
  keyRotations.forEach((rotation, round) => {
    left = [...left.slice(rotation), ...left.slice(0, rotation)];
    right = [...right.slice(rotation), ...right.slice(0, rotation)];
    const joined = [...left, ...right];
    keyChoice2.forEach((source, position) => {
      const group = round * 8 + Math.floor(position / 6);
      schedule[group] = ((schedule[group] ?? 0) << 1) | (joined[source - 1] ?? 0);
    });
  });
  return schedule;
}

/** Works on the block in place; `direction` 1 encrypts and -1 decrypts. */
function transformBlock(schedule: KeySchedule, block: Uint32Array, direction: 1 | -1): void {
  let [left, right] = permute(initialTable, block[0] ?? 0, block[1] ?? 0);
  let round = direction === 1 ? 0 : 15;
  for (let count = 0; count < 16; count++) {
    let mixed = 0;
    for (let box = 0; box < 8; box++) {
      const shift = (4 * box + 5) & 31;
      const expanded = ((right << shift) | (right >>> (32 - shift))) & 63;
      mixed |= roundTable[box * 64 + (expanded ^ (schedule[round * 8 + box] ?? 0))] ?? 0;
    }
    const next = left ^ mixed;
    left = right;
    right = next;
    round += direction;
  }
  const [high, low] = permute(finalTable, right, left);
  block[0] = high;
  block[1] = low;
}

function permute(table: BytePermutation, high: number, low: number): [number, number] {
  let first = 0;
  let second = 0;
  for (let byte = 0; byte < 4; byte++) {
    const upper = byte * 256 + ((high >>> (24 - byte * 8)) & 255);
    const lower = (byte + 4) * 256 + ((low >>> (24 - byte * 8)) & 255);
    first |= (table.high[upper] ?? 0) | (table.high[lower] ?? 0);
    second |= (table.low[upper] ?? 0) | (table.low[lower] ?? 0);
  }
  return [first, second];
}

function loadBlock(bytes: Uint8Array, offset: number, block: Uint32Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, blockBytes);
  block[0] = view.getUint32(0);
  block[1] = view.getUint32(4);
}

function storeBlock(block: Uint32Array, bytes: Uint8Array, offset: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, blockBytes);
  view.setUint32(0, block[0] ?? 0);
  view.setUint32(4, block[1] ?? 0);
}

function requireBlocks(data: Uint8Array): void {
  if (data.length % blockBytes !== 0) {
    throw new EmrtdError("CRYPTO_INVALID", "DES works on whole blocks of 8 bytes");
  }
}

function schedulePair(key: Uint8Array): [KeySchedule, KeySchedule] {
  if (key.length !== 16) throw new EmrtdError("CRYPTO_INVALID", "A two-key triple DES key has 16 bytes");
  return [scheduleKey(key.subarray(0, 8)), scheduleKey(key.subarray(8))];
}

export function tripleDesCbcEncrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array {
  requireBlocks(data);
  const [first, second] = schedulePair(key);
  const result = new Uint8Array(data.length);
  const chain = new Uint32Array(2);
  const block = new Uint32Array(2);
  loadBlock(iv, 0, chain);
  for (let offset = 0; offset < data.length; offset += blockBytes) {
    loadBlock(data, offset, block);
    chain[0] = (chain[0] ?? 0) ^ (block[0] ?? 0);
    chain[1] = (chain[1] ?? 0) ^ (block[1] ?? 0);
    transformBlock(first, chain, 1);
    transformBlock(second, chain, -1);
    transformBlock(first, chain, 1);
    storeBlock(chain, result, offset);
  }
  return result;
}

export function tripleDesCbcDecrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array {
  requireBlocks(data);
  const [first, second] = schedulePair(key);
  const result = new Uint8Array(data.length);
  const chain = new Uint32Array(2);
  const block = new Uint32Array(2);
  const previous = new Uint32Array(2);
  loadBlock(iv, 0, previous);
  for (let offset = 0; offset < data.length; offset += blockBytes) {
    loadBlock(data, offset, block);
    chain.set(block);
    transformBlock(first, block, -1);
    transformBlock(second, block, 1);
    transformBlock(first, block, -1);
    block[0] = (block[0] ?? 0) ^ (previous[0] ?? 0);
    block[1] = (block[1] ?? 0) ^ (previous[1] ?? 0);
    storeBlock(block, result, offset);
    previous.set(chain);
  }
  return result;
}

/** ISO/IEC 9797-1 MAC algorithm 3 over data that is padded already. */
export function retailMac(key: Uint8Array, padded: Uint8Array): Uint8Array {
  requireBlocks(padded);
  const [first, second] = schedulePair(key);
  const chain = new Uint32Array(2);
  const block = new Uint32Array(2);
  for (let offset = 0; offset < padded.length; offset += blockBytes) {
    loadBlock(padded, offset, block);
    chain[0] = (chain[0] ?? 0) ^ (block[0] ?? 0);
    chain[1] = (chain[1] ?? 0) ^ (block[1] ?? 0);
    transformBlock(first, chain, 1);
  }
  transformBlock(second, chain, -1);
  transformBlock(first, chain, 1);
  const mac = new Uint8Array(blockBytes);
  storeBlock(chain, mac, 0);
  return mac;
}

/** DES keys carry odd parity in the lowest bit of every byte; the standard's examples print it. */
export function withOddParity(key: Uint8Array): Uint8Array {
  return key.map((byte) => {
    let ones = 0;
    for (let bit = 1; bit < 8; bit++) ones += (byte >> bit) & 1;
    return (byte & 0xfe) | (ones % 2 === 0 ? 1 : 0);
  });
}
