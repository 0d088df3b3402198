import { randomBytes } from "@noble/hashes/utils.js";

/** Tests and the software chip pass their own, so that a run can be repeated byte for byte. */
export type RandomSource = (length: number) => Uint8Array;

export const secureRandom: RandomSource = (length) => randomBytes(length);
