import { verifyActiveAuthentication } from "@assay/emrtd/active-authentication/verify-active-authentication";
import { decodeResponse, STATUS } from "@assay/emrtd/apdu/response";
import { startChipAuthentication } from "@assay/emrtd/chip-authentication/chip-authentication";
import { type RandomSource, secureRandom } from "@assay/emrtd/crypto/random";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { readDg14 } from "@assay/emrtd/lds/dg14";
import { readDg15 } from "@assay/emrtd/lds/dg15";
import type { Chip } from "@assay/emrtd/reader/open-chip";
import type { ReadDocumentFiles } from "@assay/emrtd/reader/read-document";

export type ChipProofName = "chip_authentication" | "active_authentication";

export type ChipProofResult = {
  proof: ChipProofName;
  passed: boolean;
  /** In snake case, for a proof that failed. */
  reason?: string;
  evidence?: Readonly<Record<string, string | number | boolean>>;
};

/**
 * Asks the chip in the reader to prove that it is no copy. The desk is server and device in one, so the split between them is
 * a formality here. The keys count only when the security object covers the groups they come from, which the caller knows.
 */
export async function proveChip(
  chip: Chip,
  proof: ChipProofName,
  files: ReadDocumentFiles,
  random: RandomSource = secureRandom,
): Promise<ChipProofResult> {
  try {
    return proof === "chip_authentication"
      ? await proveByAgreement(chip, files, random)
      : await proveBySignature(chip, files, random);
  } catch (error) {
    // A chip that leaves the field has not failed; it can be put back.
    if (!isEmrtdError(error) || error.code === "CHIP_LOST") throw error;
    return { proof, passed: false, reason: error.code.toLowerCase() };
  }
}

async function proveByAgreement(
  chip: Chip,
  files: ReadDocumentFiles,
  random: RandomSource,
): Promise<ChipProofResult> {
  const proof = "chip_authentication";
  const { DG14 } = files;
  const start = (generalAuthenticate: boolean) =>
    DG14 === undefined ? undefined : startChipAuthentication(DG14, { random, generalAuthenticate });
  let exchange = start(false);
  if (exchange === undefined) return { proof, passed: false, reason: "not_offered" };
  let answers = await chip.forwardInSession(exchange.commands);
  if (exchange.offer.suite.name === "3DES" && !answers.every(isOk)) {
    exchange = start(true) ?? exchange;
    answers = await chip.forwardInSession(exchange.commands);
  }
  const { cipher, domain } = exchange.finish(await chip.forwardSealed(exchange.prove(answers)));
  return { proof, passed: true, evidence: { cipher, domain } };
}

function isOk(answer: Uint8Array): boolean {
  return decodeResponse(answer).statusWord === STATUS.ok;
}

async function proveBySignature(
  chip: Chip,
  files: ReadDocumentFiles,
  random: RandomSource,
): Promise<ChipProofResult> {
  const proof = "active_authentication";
  if (files.DG15 === undefined) return { proof, passed: false, reason: "not_offered" };
  const challenge = random(8);
  const signature = await chip.activeAuthentication(challenge);
  const named = (files.DG14 === undefined ? [] : readDg14(files.DG14)).flatMap((info) =>
    info.kind === "activeAuthentication" ? [info.signatureAlgorithm] : [],
  )[0];
  const verdict = verifyActiveAuthentication({
    publicKey: readDg15(files.DG15).subjectPublicKeyInfo,
    challenge,
    signature,
    ...(named === undefined ? {} : { signatureAlgorithm: named }),
  });
  return verdict.verified
    ? { proof, passed: true, evidence: { key: `${verdict.keyKind} ${verdict.keyBits}`, hash: verdict.hash } }
    : { proof, passed: false, reason: verdict.reason.toLowerCase() };
}
