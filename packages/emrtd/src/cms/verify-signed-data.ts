import { readWhole } from "../ber/read.ts";
import { equal } from "../bytes.ts";
import { checkSignature, type SignatureTolerance, type SignatureWarning } from "../crypto/check-signature.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import type { SignatureScheme } from "../crypto/signature-scheme.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { type Certificate, readCertificate } from "../x509/certificate.ts";
import { readName } from "../x509/name.ts";
import type { SignedData, SignerId, SignerInfo } from "./signed-data.ts";

export type SignedDataTolerance = SignatureTolerance & {
  /** The signer id names another certificate than the only one that is there. */
  readonly signerIdMismatch: boolean;
  /**
   * The signature covers the content directly. Harmless where the content cannot be mistaken for attributes.
   */
  readonly noSignedAttributes: boolean;
};

export type SignedDataWarning =
  | SignatureWarning
  | "signer_id_mismatch"
  | "signed_attributes_absent"
  | "signature_algorithm_without_hash"
  | "digest_differs_from_signature_hash";

type SignedDataFault =
  | "no_signer"
  | "several_signers"
  | "signer_certificate_missing"
  | "signer_certificate_unreadable"
  | "signer_key_unsupported"
  | "signed_attributes_absent"
  | "content_type_differs"
  | "message_digest_differs"
  | "signature_invalid";

export type SignedDataVerdict =
  | {
      readonly valid: true;
      readonly signer: Certificate;
      /** Claimed by the signer, and covered by the signature. */
      readonly signingTime: Date | null;
      readonly scheme: SignatureScheme;
      readonly warnings: readonly SignedDataWarning[];
    }
  | { readonly valid: false; readonly fault: SignedDataFault };

function fault(name: SignedDataFault): SignedDataVerdict {
  return { valid: false, fault: name };
}

/**
 * Checks that the key of an embedded certificate signed the content.
 * Does not check whether the certificate is trusted.
 */
export function verifySignedData(
  signedData: SignedData,
  checker: SignatureChecker,
  tolerance: SignedDataTolerance,
  read: (der: Uint8Array) => Certificate = readCertificate,
): SignedDataVerdict {
  const [signerInfo] = signedData.signers;
  if (signerInfo === undefined) return fault("no_signer");
  if (signedData.signers.length > 1) return fault("several_signers");
  const found = findCertificate(signedData.certificates, signerInfo.id, tolerance, read);
  if (found === "missing") return fault("signer_certificate_missing");
  if (found === "unreadable") return fault("signer_certificate_unreadable");

  const message = signedMessage(signedData, signerInfo, checker);
  if (typeof message === "string") return fault(message);

  const warnings: SignedDataWarning[] = found.matchesId ? [] : ["signer_id_mismatch"];
  const { scheme, hashFromDigest } = signerInfo.scheme;
  if (signerInfo.attributes === null) {
    if (!tolerance.noSignedAttributes) return fault("signed_attributes_absent");
    warnings.push("signed_attributes_absent");
  }
  if (hashFromDigest) warnings.push("signature_algorithm_without_hash");
  if (scheme.hash !== signerInfo.digest) warnings.push("digest_differs_from_signature_hash");
  const signer = found.certificate;
  const key = readKey(signer);
  if (key === undefined) return fault("signer_key_unsupported");
  const verdict = checkSignature(
    checker,
    { scheme, key, message, signature: signerInfo.signature },
    tolerance,
  );
  if (!verdict.valid) return fault("signature_invalid");
  for (const warning of verdict.warnings) warnings.push(warning);
  return { valid: true, signer, signingTime: signerInfo.attributes?.signingTime ?? null, scheme, warnings };
}

function readKey(certificate: Certificate) {
  try {
    return certificate.publicKey;
  } catch (error) {
    if (isEmrtdError(error)) return undefined;
    throw error;
  }
}

function signedMessage(
  signedData: SignedData,
  { attributes, digest }: SignerInfo,
  checker: SignatureChecker,
): Uint8Array | SignedDataFault {
  if (attributes === null) return signedData.content;
  if (attributes.contentType !== signedData.contentType) return "content_type_differs";
  if (!equal(attributes.messageDigest, checker.hash(digest, signedData.content)))
    return "message_digest_differs";
  return attributes.signed;
}

type FoundCertificate = {
  readonly certificate: Certificate;
  readonly matchesId: boolean;
};

function findCertificate(
  encoded: readonly Uint8Array[],
  id: SignerId,
  tolerance: SignedDataTolerance,
  read: (der: Uint8Array) => Certificate,
): FoundCertificate | "missing" | "unreadable" {
  const certificates: Certificate[] = [];
  for (const bytes of encoded) {
    try {
      certificates.push(read(bytes));
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
    }
  }
  const matching = certificates.find((certificate) => matchesId(certificate, id));
  if (matching !== undefined) return { certificate: matching, matchesId: true };
  const [only] = certificates;
  if (tolerance.signerIdMismatch && only !== undefined && encoded.length === 1) {
    return { certificate: only, matchesId: false };
  }
  return certificates.length < encoded.length ? "unreadable" : "missing";
}

function matchesId(certificate: Certificate, id: SignerId): boolean {
  if (id.kind === "subject_key_id") {
    return certificate.subjectKeyId !== null && equal(certificate.subjectKeyId, id.keyId);
  }
  if (certificate.serial !== id.serial) return false;
  if (equal(certificate.encodedIssuer, id.encodedIssuer)) return true;
  return certificate.issuer.key === readName(readWhole(id.encodedIssuer, { maxNodes: 512 })).key;
}
