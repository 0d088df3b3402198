/** Anything that takes bytes from a chip, a client or an operator. */
export type FuzzReader = {
  readonly name: string;
  /** The reader takes text of a fixed shape: characters are exchanged more often than structure is damaged. */
  readonly text?: true;
  /** May return a promise. Whatever comes back is ignored; only how it fails is judged. */
  read(bytes: Uint8Array): unknown;
  /** Well-formed inputs to start from. They must be deterministic. */
  seeds(): readonly Uint8Array[];
};
