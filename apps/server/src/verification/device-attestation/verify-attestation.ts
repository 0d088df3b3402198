import { attestationLimits } from "@assay/contract/verify-protocol";
import { equal } from "@assay/emrtd/bytes";
import { checkSignature, strictSignatures } from "@assay/emrtd/crypto/check-signature";
import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { type Certificate, readCertificate } from "@assay/emrtd/x509/certificate";
import { findKeyDescription, type KeyDescription } from "./key-description.ts";

/** What the device sends with its frames. */
export type Attestation = { certificates: readonly Uint8Array[]; signature: Uint8Array };

export type AttestationDemands = {
  /** Public keys (SubjectPublicKeyInfo) of the makers' roots. Certificates are replaced, keys stay. */
  roots: readonly Uint8Array[];
  /** Serial numbers of revoked certificates, hexadecimal without leading zeros. */
  revokedSerials: ReadonlySet<string>;
  app: { packageName: string; certificateDigests: readonly string[] };
  challenge: Uint8Array;
  /** What the key must have signed. */
  message: Uint8Array;
  now: Date;
};

export type AttestationProblem =
  | "unreadable"
  | "chain_too_short"
  | "chain_broken"
  | "certificate_expired"
  | "certificate_revoked"
  | "root_unknown"
  | "no_key_description"
  | "key_not_in_hardware"
  | "challenge_differs"
  | "key_of_another_kind"
  | "device_not_locked"
  | "app_differs"
  | "signature_invalid";

const securityLevels = { trustedEnvironment: 1, strongBox: 2 } as const;
const signing = 2;
const ellipticCurve = 3;
const generated = 0;
const verifiedBoot = 0;

/**
 * Whether a key in the secure hardware of a phone with the operator's app signed the message (Android key
 * attestation). Null if it did, else the problem. Trusts only the maker's roots and asks no service.
 */
export function attestationProblem(
  { certificates, signature }: Attestation,
  demands: AttestationDemands,
  checker: SignatureChecker,
): AttestationProblem | null {
  try {
    const chain = certificates.slice(0, attestationLimits.certificates).map(readCertificate);
    const [leaf] = chain;
    if (leaf === undefined || chain.length < 2) return "chain_too_short";
    const chainProblem = problemOfChain(chain, demands, checker);
    if (chainProblem !== null) return chainProblem;
    // An attested key may sign certificates with any content. Only what the maker's hardware signed counts.
    if (chain.slice(1).some((certificate) => findKeyDescription(certificate) !== null))
      return "no_key_description";
    const description = findKeyDescription(leaf);
    if (description === null) return "no_key_description";
    const keyProblem = problemOfKey(description, demands);
    if (keyProblem !== null) return keyProblem;
    const signed = { scheme: { kind: "ecdsa", hash: "SHA-256" }, key: leaf.publicKey } as const;
    const { valid } = checkSignature(
      checker,
      { ...signed, message: demands.message, signature },
      strictSignatures,
    );
    return valid ? null : "signature_invalid";
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return "unreadable";
  }
}

function problemOfChain(
  chain: readonly Certificate[],
  { roots, revokedSerials, now }: AttestationDemands,
  checker: SignatureChecker,
): AttestationProblem | null {
  const root = chain.at(-1);
  if (root === undefined || !roots.some((key) => equal(key, root.subjectPublicKeyInfo)))
    return "root_unknown";
  for (const [index, certificate] of chain.entries()) {
    if (revokedSerials.has(plainSerial(certificate))) return "certificate_revoked";
    const issuer = chain[index + 1];
    // The root is recognized by its key, because its certificates expire while the key stays.
    if (issuer === undefined) continue;
    // The app chose the dates of the phone's certificate, so they are not checked.
    if (index > 0 && !certificate.isValidAt(now)) return "certificate_expired";
    const { valid } = checkSignature(
      checker,
      {
        scheme: certificate.signatureScheme,
        key: issuer.publicKey,
        message: certificate.tbs,
        signature: certificate.signature,
      },
      strictSignatures,
    );
    const follows = certificate.issuer.key === issuer.subject.key;
    const isWeak = certificate.signatureScheme.hash === "SHA-1";
    if (!valid || isWeak || !follows || issuer.basicConstraints?.ca !== true) return "chain_broken";
  }
  return null;
}

function problemOfKey(
  key: KeyDescription,
  { challenge, app }: AttestationDemands,
): AttestationProblem | null {
  const levels: readonly number[] = Object.values(securityLevels);
  if (!levels.includes(key.attestationLevel) || !levels.includes(key.keyLevel)) return "key_not_in_hardware";
  if (!equal(key.challenge, challenge)) return "challenge_differs";
  if (!key.purposes.includes(signing) || key.algorithm !== ellipticCurve || key.origin !== generated)
    return "key_of_another_kind";
  if (key.rootOfTrust?.deviceLocked !== true || key.rootOfTrust.bootState !== verifiedBoot)
    return "device_not_locked";
  const digests = app.certificateDigests.map((digest) => digest.replaceAll(":", "").toLowerCase());
  const isOurs =
    key.application?.packages.length === 1 &&
    key.application.packages[0] === app.packageName &&
    key.application.certificateDigests.length > 0 &&
    key.application.certificateDigests.every((digest) => digests.includes(digest));
  return isOurs ? null : "app_differs";
}

/** In the form of the revocation list. */
function plainSerial({ serial }: Certificate): string {
  return serial.replace(/^0+(?=.)/, "");
}
