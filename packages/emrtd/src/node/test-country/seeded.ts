import { createHmac } from "node:crypto";

/** Bytes that depend on the seed and the label alone. */
export function seededBytes(seed: string, label: string, length: number): Uint8Array {
  const blocks: Buffer[] = [];
  for (let counter = 0; counter * 64 < length; counter++) {
    blocks.push(createHmac("sha512", seed).update(`${label}\0${counter}`).digest());
  }
  return new Uint8Array(Buffer.concat(blocks).subarray(0, length));
}

/** A number from 1 to `bound` - 1, of negligible bias because sixteen more bytes are drawn than it needs. */
export function seededScalar(seed: string, label: string, bound: bigint): bigint {
  const length = Math.ceil(bound.toString(16).length / 2) + 16;
  const drawn = BigInt(`0x${Buffer.from(seededBytes(seed, label, length)).toString("hex")}`);
  return (drawn % (bound - 1n)) + 1n;
}
