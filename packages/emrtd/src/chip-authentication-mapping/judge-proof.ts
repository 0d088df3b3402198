import { type CommandApdu, encodeCommand } from "../apdu/command.ts";
import { decodeResponse, type ResponseApdu, requireOk } from "../apdu/response.ts";
import { equal, uintBytes } from "../bytes.ts";
import type { RandomSource } from "../crypto/random.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { chipFiles, ldsApplicationId } from "../lds/chip-files.ts";
import { readDg1 } from "../lds/dg1.ts";
import { readDg14 } from "../lds/dg14.ts";
import { mrzInformation } from "../mrz/mrz-key.ts";
import { keyFieldsOf } from "../mrz/parse-mrz.ts";
import { type ChipDialogue, paceDialogue } from "../pace/pace.ts";
import { checkChipAuthenticationMapping } from "../pace/pace-crypto.ts";
import { type ProofStep, type ProofVerdict, refusedBecause } from "../proof-step.ts";
import { type ChipMappingOffer, chipMappingOffer, readCardSecurity } from "./card-security.ts";

/**
 * PACE with the chip authentication mapping (ICAO Doc 9303-11, section 4.4.3.3.3), as a proof for a judge
 * other than the device. The judge acts as the terminal and keeps both private keys: with one of them a
 * device could forge the chip's side. The device passes each command on unchanged.
 * The state did not sign EF.CardSecurity together with the data groups, so the proven key could belong to
 * another document. Therefore the judge reads DG1 again, under keys that only it and this chip have.
 */

/** The seed of the terminal's keys, and the chip's answers so far. The rest is derived from these. */
export type ChipMappingState = {
  readonly random: Uint8Array;
  readonly answers: readonly Uint8Array[];
};

/** All are verified: DG1 and DG14 by the security object, EF.CardSecurity by its own signature. */
export type ChipMappingFiles = {
  readonly dg1: Uint8Array;
  readonly dg14: Uint8Array;
  readonly cardSecurity: Uint8Array;
};

/** Two private keys on the largest curve, each with the eight bytes that make it uniform. */
const keyMaterialBytes = 2 * (66 + 8);

const selectMasterFile: CommandApdu = { cla: 0, ins: 0xa4, p1: 0, p2: 0x0c, data: Uint8Array.of(0x3f, 0x00) };
const selectApplication: CommandApdu = { cla: 0, ins: 0xa4, p1: 0x04, p2: 0x0c, data: ldsApplicationId };
const selectDg1: CommandApdu = {
  cla: 0,
  ins: 0xa4,
  p1: 0x02,
  p2: 0x0c,
  data: uintBytes(chipFiles.DG1.fileId, 2),
};

export function beginChipMapping(files: ChipMappingFiles, random: RandomSource): ProofStep<ChipMappingState> {
  return goOn({ random: random(keyMaterialBytes), answers: [] }, files);
}

export function continueChipMapping(
  { random, answers: before }: ChipMappingState,
  answers: readonly Uint8Array[],
  files: ChipMappingFiles,
): ProofStep<ChipMappingState> {
  const [answer] = answers;
  if (answer === undefined) return refusedBecause("answer_missing");
  // A copy: the state before is overwritten.
  return goOn({ random: random.slice(), answers: [...before, answer] }, files);
}

/** Repeats the dialogue up to the command that is not answered yet. */
function goOn(state: ChipMappingState, files: ChipMappingFiles): ProofStep<ChipMappingState> {
  const offer = chipMappingOffer(readDg14(files.dg14), readCardSecurity(files.cardSecurity).securityInfos);
  if (offer === null) throw new TypeError("DG14 and EF.CardSecurity offer no chip authentication mapping");
  try {
    const dialogue = proofDialogue(offer, files.dg1, recorded(state.random));
    let turn = dialogue.next();
    for (const answer of state.answers) {
      if (turn.done === true) break;
      turn = dialogue.next(decodeResponse(answer));
    }
    if (turn.done === true) return { kind: "judged", verdict: turn.value };
    return { kind: "ask", state, ask: { kind: "sealed", commands: [encodeCommand(turn.value)] } };
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return refusedBecause(error.code.toLowerCase());
  }
}

function* proofDialogue(
  offer: ChipMappingOffer,
  dg1: Uint8Array,
  random: RandomSource,
): ChipDialogue<ProofVerdict> {
  // Ends the device's session. Some chips refuse the command although PACE works where they are.
  yield selectMasterFile;
  const { protocol, domain, publicKeys } = offer;
  const { messaging, chipAuthentication } = yield* paceDialogue({
    ...offer,
    password: passwordIn(dg1),
    random,
  });
  const isGenuine =
    chipAuthentication !== null &&
    publicKeys.some((key) => checkChipAuthenticationMapping(domain, chipAuthentication, key));
  if (!isGenuine) return refusedBecause("chip_key_differs").verdict;
  function* inSession(command: CommandApdu): ChipDialogue<ResponseApdu> {
    return messaging.unprotectResponse(yield messaging.protectCommand(command));
  }
  requireOk(yield* inSession(selectApplication), "SELECT of the travel document application");
  requireOk(yield* inSession(selectDg1), "SELECT of DG1");
  const read = yield* inSession({ cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: dg1.length });
  if (!equal(requireOk(read, "READ BINARY of DG1"), dg1)) return refusedBecause("document_differs").verdict;
  return {
    passed: true,
    evidence: { protocol: protocol.oid, cipher: protocol.suite.name, domain: domain.name },
  };
}

/** The key of the zone, which every chip with PACE takes, also where a card access number opened it. */
function passwordIn(dg1: Uint8Array): { readonly kind: "mrz"; readonly mrzInformation: string } {
  // The time decides about centuries only, which the key has none of.
  return { kind: "mrz", mrzInformation: mrzInformation(keyFieldsOf(readDg1(dg1, new Date(0)))) };
}

function recorded(bytes: Uint8Array): RandomSource {
  let at = 0;
  return (length) => {
    if (at + length > bytes.length) throw new TypeError("There is too little key material");
    at += length;
    return bytes.slice(at - length, at);
  };
}
