import { equal } from "../bytes.ts";
import type { SignedDataTolerance } from "../cms/verify-signed-data.ts";
import {
  checkSignature,
  type SignatureToCheck,
  type SignatureTolerance,
  type SignatureVerdict,
  type SignatureWarning,
} from "../crypto/check-signature.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import type { Certificate } from "../x509/certificate.ts";

/** The ICAO's list of 2023 has a DigestInfo without NULL. Lists of authorities get no other tolerance. */
export const listTolerance: SignedDataTolerance = {
  digestInfoWithoutNull: true,
  rawEcdsa: false,
  wrongCurveOfSameSize: false,
  signerIdMismatch: false,
  noSignedAttributes: false,
};

/** More keys than this are never tried for one certificate, whatever a store holds under one name. */
const maxKeysTried = 8;

/** Deviations that real authorities show in certificates and lists they sign. */
const storeTolerance: SignatureTolerance = {
  digestInfoWithoutNull: true,
  rawEcdsa: false,
  wrongCurveOfSameSize: false,
};

/** Whether the issuer key id of a certificate, if it has one, can be that of this key. */
export function keyIdFits(
  { authorityKeyId }: Pick<Certificate, "authorityKeyId">,
  { subjectKeyId }: Pick<Certificate, "subjectKeyId">,
): boolean {
  return authorityKeyId === null || subjectKeyId === null || equal(authorityKeyId, subjectKeyId);
}

/** Same name for subject and issuer, and no key id that points elsewhere: what a root looks like. */
export function isOwnIssuer(certificate: Certificate): boolean {
  return certificate.isSelfIssued && keyIdFits(certificate, certificate);
}

/** Which of these signed the certificate; null if none did, or the signature type is unknown. */
export function signerAmong<T extends { readonly certificate: Certificate }>(
  certificate: Certificate,
  candidates: readonly T[],
  checker: SignatureChecker,
): T | null {
  try {
    const { signatureScheme: scheme, tbs: message, signature } = certificate;
    return findSigner({ scheme, message, signature }, candidates, checker)?.candidates[0] ?? null;
  } catch (error) {
    if (isEmrtdError(error)) return null;
    throw error;
  }
}

export type FoundSigner<T> = {
  /** All candidates that hold the key which made the signature. */
  readonly candidates: readonly [T, ...T[]];
  readonly warnings: readonly SignatureWarning[];
};

/**
 * The candidates whose key made the signature.
 * A shared key costs one check, and the number of keys is limited.
 */
export function findSigner<T extends { readonly certificate: Certificate }>(
  signed: Omit<SignatureToCheck, "key">,
  candidates: readonly T[],
  checker: SignatureChecker,
  tolerance: SignatureTolerance = storeTolerance,
): FoundSigner<T> | null {
  let tried = 0;
  for (const candidate of candidates) {
    if (candidates.find((other) => haveOneKey(other, candidate)) !== candidate) continue;
    if (tried === maxKeysTried) return null;
    tried++;
    const { valid, warnings } = tryKey(signed, candidate.certificate, checker, tolerance);
    if (!valid) continue;
    const rest = candidates.filter((other) => other !== candidate && haveOneKey(other, candidate));
    return { candidates: [candidate, ...rest], warnings };
  }
  return null;
}

function haveOneKey<T extends { readonly certificate: Certificate }>(one: T, other: T): boolean {
  return equal(one.certificate.subjectPublicKeyInfo, other.certificate.subjectPublicKeyInfo);
}

/** A key of an unsupported kind cannot have signed anything that is understood here. */
function tryKey(
  signed: Omit<SignatureToCheck, "key">,
  certificate: Certificate,
  checker: SignatureChecker,
  tolerance: SignatureTolerance,
): SignatureVerdict {
  try {
    const { scheme, message, signature } = signed;
    return checkSignature(checker, { scheme, key: certificate.publicKey, message, signature }, tolerance);
  } catch (error) {
    if (isEmrtdError(error)) return { valid: false, warnings: [] };
    throw error;
  }
}
