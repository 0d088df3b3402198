/** Commands for the chip in a proof that it is no copy. */
export type ChipCommands = {
  /**
   * `in_session`: plain commands, which the device protects with its session. `sealed`: one command that is
   * passed on unchanged, because it belongs to a session of the judge. `challenge`: bytes for the chip to
   * sign (INTERNAL AUTHENTICATE).
   */
  readonly kind: "in_session" | "sealed" | "challenge";
  readonly commands: readonly Uint8Array[];
};

export type ProofVerdict =
  | { readonly passed: true; readonly evidence: Readonly<Record<string, string | number>> }
  /** `reason` is in snake case. */
  | { readonly passed: false; readonly reason: string };

/**
 * A proof continues with the answers to `ask`, or it is judged. The state is plain data, so that it can move
 * between threads. It is secret: its owner overwrites the bytes when done.
 */
export type ProofStep<State, Verdict = ProofVerdict> =
  | { readonly kind: "ask"; readonly state: State; readonly ask: ChipCommands }
  | { readonly kind: "judged"; readonly verdict: Verdict };

export function refusedBecause(reason: string): { kind: "judged"; verdict: ProofVerdict } {
  return { kind: "judged", verdict: { passed: false, reason } };
}
