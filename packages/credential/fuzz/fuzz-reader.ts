import type { Dice } from "../../emrtd/fuzz/dice.ts";

/** Anything that takes bytes or text from a wallet, an issuer or the publisher of a list. */
export type FuzzReader = {
  readonly name: string;
  /** May return a promise. Whatever comes back is ignored; only how it fails is judged. */
  read(bytes: Uint8Array): unknown;
  /** Well-formed inputs to start from. They must be deterministic. */
  seeds(): readonly Uint8Array[];
  /** One hostile input made from the seeds. */
  damage(seeds: readonly Uint8Array[], dice: Dice): Uint8Array;
};
