import { concat } from "../bytes.ts";
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
const finalPermutation = [
  40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13,
  53, 21, 61, 29, 36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26,
  33, 1, 41, 9, 49, 17, 57, 25,
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

/** Two words of 32 bits, as the standard halves a block. */
type Block = readonly [number, number];

/** The bits at these positions, in this order, as two words. */
function permute([left, right]: Block, positions: readonly number[]): Block {
  const half = positions.length / 2;
  let [first, second] = [0, 0];
  for (let index = 0; index < positions.length; index++) {
    const position = positions[index] ?? 1;
    const bit = (position <= 32 ? left >>> (32 - position) : right >>> (64 - position)) & 1;
    if (index < half) first = (first << 1) | bit;
    else second = (second << 1) | bit;
  }
  return [first, second];
}

/** A box and the round permutation behind it as one table, because this is where the time goes. */
const roundTables = substitutionBoxes.map((rows, box) => {
  const digits = rows.replaceAll(" ", "");
  return Uint32Array.from({ length: 64 }, (_, input) => {
    const row = ((input >> 4) & 2) | (input & 1);
    const column = (input >> 1) & 15;
    const output = Number.parseInt(digits.charAt(row * 16 + column), 16) << (28 - 4 * box);
    const [high, low] = permute([output, 0], roundPermutation);
    return (high << 16) | low;
  });
});

/** Sixteen rounds of eight groups of six bits. */
type KeySchedule = readonly (readonly number[])[];

function scheduleKey(key: Uint8Array): KeySchedule {
  const bits = keyChoice1.map((source) => ((key[(source - 1) >> 3] ?? 0) >> (7 - ((source - 1) & 7))) & 1);
  let left = bits.slice(0, 28);
  let right = bits.slice(28);
  return keyRotations.map((rotation) => {
    left = [...left.slice(rotation), ...left.slice(0, rotation)];
    right = [...right.slice(rotation), ...right.slice(0, rotation)];
    const joined = [...left, ...right];
    const groups = new Array<number>(8).fill(0);
    keyChoice2.forEach((source, position) => {
      const group = Math.floor(position / 6);
      groups[group] = ((groups[group] ?? 0) << 1) | (joined[source - 1] ?? 0);
    });
    return groups;
  });
}

/** Decrypts with the schedule reversed. */
function des(schedule: KeySchedule, block: Block): Block {
  let [left, right] = permute(block, initialPermutation);
  for (const key of schedule) {
    let mixed = left;
    for (let box = 0; box < 8; box++) {
      const shift = (4 * box + 5) & 31;
      const expanded = ((right << shift) | (right >>> (32 - shift))) & 63;
      mixed ^= roundTables[box]?.[expanded ^ (key[box] ?? 0)] ?? 0;
    }
    [left, right] = [right, mixed];
  }
  return permute([right, left], finalPermutation);
}

type BlockCipher = (block: Block) => Block;

/** `single` takes the first half of the key alone. */
function ciphersOf(key: Uint8Array): Record<"single" | "encrypt" | "decrypt", BlockCipher> {
  if (key.length !== 16) throw new EmrtdError("CRYPTO_INVALID", "A two-key triple DES key has 16 bytes");
  const [first, second] = [scheduleKey(key.subarray(0, 8)), scheduleKey(key.subarray(8))];
  const [firstBack, secondBack] = [first.toReversed(), second.toReversed()];
  return {
    single: (block) => des(first, block),
    encrypt: (block) => des(first, des(secondBack, des(first, block))),
    decrypt: (block) => des(firstBack, des(second, des(firstBack, block))),
  };
}

function blockAt(bytes: Uint8Array, offset: number): Block {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, blockBytes);
  return [view.getUint32(0), view.getUint32(4)];
}

const xor = (one: Block, other: Block): Block => [one[0] ^ other[0], one[1] ^ other[1]];

function mapBlocks(data: Uint8Array, change: (block: Block) => Block): Uint8Array {
  if (data.length % blockBytes !== 0)
    throw new EmrtdError("CRYPTO_INVALID", "DES works on whole blocks of 8 bytes");
  const result = new Uint8Array(data.length);
  const view = new DataView(result.buffer);
  for (let offset = 0; offset < data.length; offset += blockBytes) {
    const [left, right] = change(blockAt(data, offset));
    view.setUint32(offset, left);
    view.setUint32(offset + 4, right);
  }
  return result;
}

function encryptCbc(cipher: BlockCipher, iv: Uint8Array, data: Uint8Array): Uint8Array {
  let chain = blockAt(iv, 0);
  return mapBlocks(data, (block) => {
    chain = cipher(xor(chain, block));
    return chain;
  });
}

export function tripleDesCbcEncrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array {
  return encryptCbc(ciphersOf(key).encrypt, iv, data);
}

export function tripleDesCbcDecrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array {
  const { decrypt } = ciphersOf(key);
  let previous = blockAt(iv, 0);
  return mapBlocks(data, (block) => {
    const plain = xor(decrypt(block), previous);
    previous = block;
    return plain;
  });
}

/** ISO/IEC 9797-1 MAC algorithm 3 over data that is padded already: single DES, and triple on the last block. */
export function retailMac(key: Uint8Array, padded: Uint8Array): Uint8Array {
  const { single, encrypt } = ciphersOf(key);
  const last = padded.length - blockBytes;
  if (last < 0) throw new EmrtdError("CRYPTO_INVALID", "A MAC needs at least one block of 8 bytes");
  const zeros = new Uint8Array(blockBytes);
  const chain = concat(zeros, encryptCbc(single, zeros, padded.subarray(0, last))).slice(-blockBytes);
  return encryptCbc(encrypt, chain, padded.subarray(last));
}

/** DES keys carry odd parity in the lowest bit of every byte; the standard's examples print it. */
export function withOddParity(key: Uint8Array): Uint8Array {
  return key.map((byte) => {
    let ones = 0;
    for (let bit = 1; bit < 8; bit++) ones += (byte >> bit) & 1;
    return (byte & 0xfe) | (ones % 2 === 0 ? 1 : 0);
  });
}
