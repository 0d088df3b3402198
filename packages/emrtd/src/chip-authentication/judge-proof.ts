import { decodeResponse, statusWords } from "../apdu/response.ts";
import type { RandomSource } from "../crypto/random.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { type ProofStep, refusedBecause } from "../proof-step.ts";
import {
  agreementCommands,
  type CommandSet,
  firstCommandSet,
  makeEphemeralKey,
  openProofAnswer,
  sealedProofCommand,
  sharedSecret,
} from "./chip-authentication.ts";
import { type ChipAuthenticationOffer, chipAuthenticationOffers } from "./chip-authentication-offer.ts";

/** Progress of chip authentication. These bytes are the only secret and all that the next step needs. */
export type ChipAuthenticationState =
  | { readonly kind: "agreement"; readonly commandSet: CommandSet; readonly privateKey: Uint8Array }
  | { readonly kind: "proof"; readonly secret: Uint8Array };

/**
 * A verified security object must cover `dg14`,
 * which must offer a supported variant (`verifyDocument` checks both).
 */
export function beginChipAuthentication(
  dg14: Uint8Array,
  random: RandomSource,
): ProofStep<ChipAuthenticationState> {
  const offer = requireOffer(dg14);
  return askForAgreement(offer, firstCommandSet(offer), random);
}

/**
 * Takes the answers to the last request.
 * A genuine chip has answered after two steps, or three with triple DES.
 */
export function continueChipAuthentication(
  state: ChipAuthenticationState,
  answers: readonly Uint8Array[],
  dg14: Uint8Array,
  random: RandomSource,
): ProofStep<ChipAuthenticationState> {
  const offer = requireOffer(dg14);
  try {
    return state.kind === "agreement"
      ? judgeAgreement(state, answers, offer, random)
      : judgeProof(state, answers, offer);
  } catch (error) {
    // The device's answers are untrusted; unreadable ones prove nothing.
    if (!isEmrtdError(error)) throw error;
    return refusedBecause(error.code.toLowerCase());
  }
}

function requireOffer(dg14: Uint8Array): ChipAuthenticationOffer {
  const [offer] = chipAuthenticationOffers(dg14);
  if (offer === undefined) throw new TypeError("DG14 offers no chip authentication");
  return offer;
}

function askForAgreement(
  offer: ChipAuthenticationOffer,
  commandSet: CommandSet,
  random: RandomSource,
): ProofStep<ChipAuthenticationState> {
  const privateKey = makeEphemeralKey(offer, random);
  const commands = agreementCommands(offer, privateKey, commandSet);
  return {
    kind: "ask",
    state: { kind: "agreement", commandSet, privateKey },
    ask: { kind: "in_session", commands },
  };
}

function judgeAgreement(
  { commandSet, privateKey }: Extract<ChipAuthenticationState, { kind: "agreement" }>,
  answers: readonly Uint8Array[],
  offer: ChipAuthenticationOffer,
  random: RandomSource,
): ProofStep<ChipAuthenticationState> {
  if (answers.some((answer) => decodeResponse(answer).statusWord !== statusWords.ok)) {
    // The chip may support only the other command set. It gets a new key, because it has seen the first one.
    if (commandSet === "key_agreement_template")
      return askForAgreement(offer, "general_authenticate", random);
    return refusedBecause("ephemeral_key_refused");
  }
  if (answers.length !== (commandSet === "key_agreement_template" ? 1 : 2))
    return refusedBecause("answer_missing");
  const secret = sharedSecret(offer, privateKey);
  return {
    kind: "ask",
    state: { kind: "proof", secret },
    ask: { kind: "sealed", commands: [sealedProofCommand(offer, secret)] },
  };
}

function judgeProof(
  { secret }: Extract<ChipAuthenticationState, { kind: "proof" }>,
  answers: readonly Uint8Array[],
  offer: ChipAuthenticationOffer,
): ProofStep<ChipAuthenticationState> {
  const [answer] = answers;
  if (answer === undefined) return refusedBecause("answer_missing");
  // Any status will do: what proves the chip is that it answered under keys that only it and we can know.
  const statusWord = openProofAnswer(offer, secret, answer);
  const { oid: protocol, suite, domain } = offer;
  return {
    kind: "judged",
    verdict: {
      passed: true,
      evidence: { protocol, cipher: suite.name, domain: domain.name, status_word: statusWord },
    },
  };
}
