import type { Dice } from "./dice.ts";

/**
 * A function that reads bytes or text from a chip, a wallet, an issuer, a publisher of lists or an operator.
 */
export type FuzzReader = {
  readonly name: string;
  /** It checks signatures or agrees on keys for most inputs, and therefore gets fewer of them. */
  readonly isCostly?: true;
  /** May return a promise. What it returns is ignored; only how it fails is judged. */
  read(bytes: Uint8Array): unknown;
  /** Well-formed inputs to start from. They must be deterministic. */
  seeds(): readonly Uint8Array[];
  /** One hostile input made from the seeds. */
  damage(seeds: readonly Uint8Array[], dice: Dice): Uint8Array;
};

/** The readers of one package, and the requirements for all of them. */
export type FuzzTarget = {
  readonly readers: readonly FuzzReader[];
  /** The error that a reader may throw. Anything else is a failure. */
  readonly refusal: abstract new (
    ...args: never[]
  ) => Error & { readonly code?: string };
  /** Personal data in the seeds. An error that quotes its input would show one of them. */
  readonly canaries: RegExp;
  /** Processor time for one input. */
  readonly maxMilliseconds: number;
  /** The greatest resident memory of the process above what it had before the first damaged input. */
  readonly maxResidentMegabytes: number;
  /** Runs only one in this many of the requested inputs, for readers of large files. */
  readonly oneIn?: number;
};
