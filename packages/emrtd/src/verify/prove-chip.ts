import {
  type ActiveAuthenticationState,
  beginActiveAuthentication,
  judgeActiveAuthentication,
} from "../active-authentication/judge-proof.ts";
import {
  beginChipAuthentication,
  type ChipAuthenticationState,
  continueChipAuthentication,
} from "../chip-authentication/judge-proof.ts";
import type { RandomSource } from "../crypto/random.ts";
import type { ProofStep } from "../proof-step.ts";
import type { ChipProof, ProofResult } from "./report.ts";

/**
 * The proof that the chip is no copy, for whoever judges a document: a server that lets a device carry the commands, or
 * a desk that is both. The report says which proof to ask for (`nextProof`); the steps here give what to ask the chip
 * and judge its answers; `withChipProof` adds the result to the report. Nothing is kept between the steps but the
 * state, so each may run in another thread.
 */
export type ChipProofState =
  | (ChipAuthenticationState & { readonly proof: "chip_authentication" })
  | (ActiveAuthenticationState & { readonly proof: "active_authentication" });

export type ChipProofStep = ProofStep<ChipProofState, ProofResult>;

/** The groups that hold the keys. Both are those of the report: covered by its security object. */
export type ProofFiles = Readonly<Partial<Record<"DG14" | "DG15", Uint8Array>>>;

export function beginChipProof(proof: ChipProof, files: ProofFiles, random: RandomSource): ChipProofStep {
  return proof === "chip_authentication"
    ? named(proof, beginChipAuthentication(requireFile(files, "DG14"), random))
    : named(proof, beginActiveAuthentication(random));
}

/** `answers` are those of the chip to what was asked last, in order; none at all when it refused to answer. */
export function continueChipProof(
  state: ChipProofState,
  answers: readonly Uint8Array[],
  files: ProofFiles,
  random: RandomSource,
): ChipProofStep {
  if (state.proof === "chip_authentication") {
    const step = continueChipAuthentication(state, answers, requireFile(files, "DG14"), random);
    return named(state.proof, step);
  }
  const groups = { dg14: files.DG14 ?? null, dg15: requireFile(files, "DG15") };
  return named(state.proof, judgeActiveAuthentication(state, answers, groups));
}

/** To be called with every state that is no longer needed. */
export function overwriteChipProof(state: ChipProofState): void {
  for (const value of Object.values(state)) if (value instanceof Uint8Array) value.fill(0);
}

function named(proof: "chip_authentication", step: ProofStep<ChipAuthenticationState>): ChipProofStep;
function named(proof: "active_authentication", step: ProofStep<ActiveAuthenticationState>): ChipProofStep;
function named(
  proof: ChipProof,
  step: ProofStep<ChipAuthenticationState> | ProofStep<ActiveAuthenticationState>,
): ProofStep<object, ProofResult> {
  return step.kind === "ask"
    ? { ...step, state: { ...step.state, proof } }
    : { kind: "judged", verdict: { ...step.verdict, proof } };
}

function requireFile(files: ProofFiles, name: "DG14" | "DG15"): Uint8Array {
  const file = files[name];
  if (file === undefined) throw new TypeError(`The proof was asked for without ${name}`);
  return file;
}
