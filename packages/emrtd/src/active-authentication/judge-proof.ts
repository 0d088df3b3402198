import type { RandomSource } from "../crypto/random.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { readDg14 } from "../lds/dg14.ts";
import { readDg15 } from "../lds/dg15.ts";
import { type ProofStep, refusedBecause } from "../proof-step.ts";
import { challengeBytes, verifyActiveAuthentication } from "./verify-active-authentication.ts";

/** The challenge that was sent to this chip in this try, and to no other. */
export type ActiveAuthenticationState = { readonly challenge: Uint8Array };

export function beginActiveAuthentication(random: RandomSource): ProofStep<ActiveAuthenticationState> {
  const challenge = random(challengeBytes);
  return {
    kind: "ask",
    state: { challenge },
    // A copy: the state is overwritten when it is done with, and the command may still be on its way.
    ask: { kind: "challenge", commands: [challenge.slice()] },
  };
}

/** A verified security object must cover both groups. DG14, if present, names the signature algorithm. */
export function judgeActiveAuthentication(
  { challenge }: ActiveAuthenticationState,
  answers: readonly Uint8Array[],
  { dg14, dg15 }: { dg14: Uint8Array | null; dg15: Uint8Array },
): ProofStep<never> {
  const [signature] = answers;
  if (signature === undefined) return refusedBecause("answer_missing");
  try {
    const verdict = verifyActiveAuthentication({
      publicKey: readDg15(dg15),
      challenge,
      signature,
      ...signatureAlgorithmIn(dg14),
    });
    if (!verdict.verified) return refusedBecause(verdict.reason.toLowerCase());
    const { keyKind, keyBits, hash } = verdict;
    return {
      kind: "judged",
      verdict: { passed: true, evidence: { key: `${keyKind} ${keyBits}`, hash } },
    };
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return refusedBecause(error.code.toLowerCase());
  }
}

function signatureAlgorithmIn(dg14: Uint8Array | null): { signatureAlgorithm?: string } {
  const named = (dg14 === null ? [] : readDg14(dg14)).find((info) => info.kind === "activeAuthentication");
  return named === undefined ? {} : { signatureAlgorithm: named.signatureAlgorithm };
}
