import type { Dice } from "./dice.ts";
import type { FuzzReader } from "./fuzz-target.ts";

export const maxInputBytes = 64 * 1024;

/** One change to the structure that the bytes have; null if they have none. */
type DamageStructure = (bytes: Uint8Array, dice: Dice) => Uint8Array | null;

/**
 * Hostile inputs made from seeds: random bytes, damaged structure, and damaged bytes.
 * `scraps` are bytes that mean something to the readers.
 */
export function hostileInputs(
  damageStructure: DamageStructure,
  scraps: readonly Uint8Array[],
): FuzzReader["damage"] {
  return (seeds, dice) => {
    if (dice.chance(25)) return dice.bytes(dice.below(dice.chance(10) ? 2000 : 64));
    let bytes = dice.pick(seeds);
    for (let rounds = 1 + dice.below(3); rounds > 0; rounds--) {
      const damaged = dice.chance(3) ? null : damageStructure(bytes, dice);
      bytes = (damaged ?? damageBytes(bytes, seeds, scraps, dice)).subarray(0, maxInputBytes);
    }
    // No Buffer: its slices share memory, unlike those of the bytes that readers get.
    return Uint8Array.from(bytes);
  };
}

export function damageBytes(
  bytes: Uint8Array,
  seeds: readonly Uint8Array[],
  scraps: readonly Uint8Array[],
  dice: Dice,
): Uint8Array {
  const at = dice.below(bytes.length + 1);
  const span = 1 + dice.below(dice.chance(4) ? 64 : 4);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const scrap = dice.pick(scraps);
  switch (dice.below(8)) {
    case 0:
      return Buffer.concat([before, Buffer.of((after[0] ?? 0) ^ (1 << dice.below(8))), after.subarray(1)]);
    case 1:
      return Buffer.concat([before, scrap, after.subarray(scrap.length)]);
    case 2:
      return Buffer.concat([before, scrap, after]);
    case 3:
      return Buffer.concat([before, dice.bytes(span), after]);
    case 4: {
      const copies = 1 + dice.below(dice.chance(20) ? 2000 : 3);
      return Buffer.concat([before, ...new Array<Uint8Array>(copies).fill(after.subarray(0, span)), after]);
    }
    case 5:
      return Buffer.concat([before, after.subarray(span)]);
    case 6:
      return before;
    default: {
      const other = dice.pick(seeds);
      return Buffer.concat([before, other.subarray(dice.below(other.length))]);
    }
  }
}
