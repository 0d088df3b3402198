import { sha256 } from "@noble/hashes/sha2.js";
import { concat, uintBytes, utf8 } from "../../src/bytes.ts";
import type { RandomSource } from "../../src/crypto/random.ts";

/** The same bytes for the same seed, so that a failing run can be repeated. */
export function seededRandom(seed: string): RandomSource {
  let counter = 0;
  return (length) => {
    const pieces: Uint8Array[] = [];
    for (let made = 0; made < length; made += 32)
      pieces.push(sha256(concat(utf8(seed), uintBytes(counter++, 8))));
    return concat(...pieces).slice(0, length);
  };
}
