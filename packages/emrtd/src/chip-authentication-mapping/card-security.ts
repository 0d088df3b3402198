import { oids } from "../ber/oid.ts";
import { chipAuthenticationOffersIn } from "../chip-authentication/chip-authentication-offer.ts";
import { readSignedData, type SignedData } from "../cms/signed-data.ts";
import { readAgreementKey } from "../crypto/subject-public-key.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { readCardSecurityContent } from "../lds/card-files.ts";
import { parseSecurityInfos, type SecurityInfo } from "../lds/security-infos.ts";
import { type PaceOffer, paceOffersIn } from "../pace/pace-offers.ts";

type CardSecurity = {
  readonly signedData: SignedData;
  readonly securityInfos: readonly SecurityInfo[];
};

/** A variant of PACE with the mapping, and the static keys of the chip that fit it. */
export type ChipMappingOffer = PaceOffer & {
  /** The chip has one domain for PACE only, so it may also be left unnamed. */
  readonly parameterIdOptional: boolean;
  readonly publicKeys: readonly Uint8Array[];
};

const maxCardSecurityBytes = 16 * 1024;
const maxKeys = 8;

/** EF.CardSecurity as read; nothing in it has been checked. */
export function readCardSecurity(file: Uint8Array): CardSecurity {
  if (file.length > maxCardSecurityBytes)
    throw new EmrtdError("LDS_TOO_LARGE", "EF.CardSecurity is too large");
  const signedData = readSignedData(readCardSecurityContent(file), { maxBytes: maxCardSecurityBytes });
  if (signedData.contentType !== oids.securityObject)
    throw new EmrtdError(
      "LDS_INVALID",
      "The signed content of EF.CardSecurity is not a list of security infos",
    );
  return { signedData, securityInfos: parseSecurityInfos(signedData.content) };
}

/**
 * `infos` must come from a signed DG14. EF.CardAccess has the same entries, but anybody may have written it.
 */
export function announcesChipMapping(infos: readonly SecurityInfo[]): boolean {
  return mappingVariants(infos).length > 0;
}

/**
 * Whether to ask this document for the mapping proof, so that EF.CardSecurity must be read. The other proofs
 * come first: they need fewer exchanges and keep the session. Reader and judge both use this.
 */
export function needsCardSecurity(infos: readonly SecurityInfo[], signsChallenges: boolean): boolean {
  if (signsChallenges || !announcesChipMapping(infos)) return false;
  return chipAuthenticationOffersIn(infos).offers.length === 0;
}

/** The best variant in DG14 that a key in EF.CardSecurity fits; null when there is none. */
export function chipMappingOffer(
  dg14: readonly SecurityInfo[],
  cardSecurity: readonly SecurityInfo[],
): ChipMappingOffer | null {
  const parameterIdOptional = new Set(paceOffersIn(dg14).map(({ parameterId }) => parameterId)).size === 1;
  for (const variant of mappingVariants(dg14)) {
    const publicKeys = keysFor(variant, cardSecurity);
    if (publicKeys.length > 0) return { ...variant, parameterIdOptional, publicKeys };
  }
  return null;
}

function mappingVariants(infos: readonly SecurityInfo[]): readonly PaceOffer[] {
  return paceOffersIn(infos).filter(({ protocol }) => protocol.mapping === "chip-authentication");
}

/** The key with the number of the domain, where one has it; otherwise every key on the same curve. */
function keysFor({ domain, parameterId }: PaceOffer, infos: readonly SecurityInfo[]): readonly Uint8Array[] {
  const keys = infos
    .flatMap((info) => (info.kind === "chipAuthenticationPublicKey" ? [info] : []))
    .slice(0, maxKeys)
    .flatMap(({ keyId, subjectPublicKeyInfo }) => {
      const key = readableKey(subjectPublicKeyInfo);
      return key?.domain.name === domain.name ? [{ keyId, publicKey: key.publicKey }] : [];
    });
  const named = keys.filter(({ keyId }) => parameterId !== null && keyId === BigInt(parameterId));
  return (named.length > 0 ? named : keys).map(({ publicKey }) => publicKey);
}

function readableKey(subjectPublicKeyInfo: Uint8Array): ReturnType<typeof readAgreementKey> | null {
  try {
    return readAgreementKey(subjectPublicKeyInfo);
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return null;
  }
}
