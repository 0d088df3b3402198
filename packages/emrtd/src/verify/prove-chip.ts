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
import {
  beginChipMapping,
  type ChipMappingFiles,
  type ChipMappingState,
  continueChipMapping,
} from "../chip-authentication-mapping/judge-proof.ts";
import type { RandomSource } from "../crypto/random.ts";
import type { ProofStep } from "../proof-step.ts";
import type { ChipProof, ProofResult } from "./report.ts";

/**
 * The proof that the chip is no copy, for a server whose device passes the commands, or for a desk that is
 * both. The report names the proof (`nextProof`); the steps here build requests and judge answers;
 * `withChipProof` adds the result to the report. Only the state is kept between steps, so each may run in
 * another thread.
 */
export type ChipProofState =
  | (ChipAuthenticationState & { readonly proof: "chip_authentication" })
  | (ActiveAuthenticationState & { readonly proof: "active_authentication" })
  | (ChipMappingState & { readonly proof: "chip_authentication_mapping" });

export type ChipProofStep = ProofStep<ChipProofState, ProofResult>;

/** The files that a proof depends on, all verified by the report. */
export const proofFiles = ["DG1", "DG14", "DG15", "CardSecurity"] as const;
type ProofFileName = (typeof proofFiles)[number];
export type ProofFiles = Readonly<Partial<Record<ProofFileName, Uint8Array>>>;

export function beginChipProof(proof: ChipProof, files: ProofFiles, random: RandomSource): ChipProofStep {
  switch (proof) {
    case "chip_authentication":
      return named(proof, beginChipAuthentication(requireFile(files, "DG14"), random));
    case "active_authentication":
      return named(proof, beginActiveAuthentication(random));
    case "chip_authentication_mapping":
      return named(proof, beginChipMapping(mappingFiles(files), random));
  }
}

/** `answers`: the chip's answers to the last request, in order; empty if it refused. */
export function continueChipProof(
  state: ChipProofState,
  answers: readonly Uint8Array[],
  files: ProofFiles,
  random: RandomSource,
): ChipProofStep {
  switch (state.proof) {
    case "chip_authentication": {
      const step = continueChipAuthentication(state, answers, requireFile(files, "DG14"), random);
      return named(state.proof, step);
    }
    case "active_authentication": {
      const groups = { dg14: files.DG14 ?? null, dg15: requireFile(files, "DG15") };
      return named(state.proof, judgeActiveAuthentication(state, answers, groups));
    }
    case "chip_authentication_mapping":
      return named(state.proof, continueChipMapping(state, answers, mappingFiles(files)));
  }
}

function mappingFiles(files: ProofFiles): ChipMappingFiles {
  return {
    dg1: requireFile(files, "DG1"),
    dg14: requireFile(files, "DG14"),
    cardSecurity: requireFile(files, "CardSecurity"),
  };
}

/** To be called with every state that is no longer needed. */
export function overwriteChipProof(state: ChipProofState): void {
  for (const value of Object.values(state)) if (value instanceof Uint8Array) value.fill(0);
}

function named<const Proof extends ChipProof, State extends object>(
  proof: Proof,
  step: ProofStep<State>,
): ProofStep<State & { proof: Proof }, ProofResult> {
  return step.kind === "ask"
    ? { ...step, state: { ...step.state, proof } }
    : { kind: "judged", verdict: { ...step.verdict, proof } };
}

function requireFile(files: ProofFiles, name: ProofFileName): Uint8Array {
  const file = files[name];
  if (file === undefined) throw new TypeError(`The proof was asked for without ${name}`);
  return file;
}
