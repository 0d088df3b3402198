import type { SignedDataTolerance } from "../cms/verify-signed-data.ts";
import type { SignatureTolerance } from "../crypto/check-signature.ts";

export type Severity = "warn" | "fail";

/** What an operator may decide. Everything that is tolerated is named among the warnings of the report. */
export type VerificationPolicy = {
  /** Deviations of the security object and its signature that real states show. */
  readonly securityObject: SignedDataTolerance & {
    /** The content type of the first edition of the standard, or the one of early Dutch documents. */
    readonly legacyContentType: boolean;
  };
  /** Deviations of the document signer's certificate and its signature. */
  readonly signerCertificate: SignatureTolerance & {
    /** The certificate has no key usage, or one that lacks digital signature. */
    readonly keyUsage: Severity;
    readonly unknownCriticalExtension: Severity;
  };
  readonly authority: {
    /** The signer's certificate points to the authority by name or by key id, and the other of the two does not fit. */
    readonly issuerMismatch: Severity;
    /** The authority's certificate does not say that it is one. */
    readonly notMarkedAsAuthority: Severity;
  };
  /** The document was signed after the signer's key was to be retired. */
  readonly signedAfterKeyUsagePeriod: Severity;
  /** SHA-1 in a signature or in the hashes of the groups. */
  readonly sha1: Severity;
  /** RSA keys of document signers below this length. */
  readonly minimumRsaBits: number;
  /** There is no revocation list of the authority. */
  readonly missingRevocationList: Severity;
  /** The revocation list is past the time of its successor. */
  readonly staleRevocationList: Severity;
  /** Signer, authority and document name different states. Off only for material that has no DG1. */
  readonly countryMismatch: Severity;
  /** A group that the security object does not name. Where only warned about, the group still proves nothing. */
  readonly undeclaredGroup: Severity;
  /** A document is valid to the end of its last day where its holder is; the earth turns for twelve hours more than UTC. */
  readonly expiryGraceHours: number;
};

export const defaultPolicy: VerificationPolicy = {
  securityObject: {
    digestInfoWithoutNull: true,
    rawEcdsa: true,
    wrongCurveOfSameSize: false,
    signerIdMismatch: true,
    noSignedAttributes: true,
    legacyContentType: true,
  },
  signerCertificate: {
    digestInfoWithoutNull: true,
    rawEcdsa: true,
    wrongCurveOfSameSize: false,
    keyUsage: "warn",
    unknownCriticalExtension: "fail",
  },
  authority: { issuerMismatch: "warn", notMarkedAsAuthority: "warn" },
  signedAfterKeyUsagePeriod: "warn",
  sha1: "warn",
  minimumRsaBits: 1024,
  missingRevocationList: "warn",
  staleRevocationList: "warn",
  countryMismatch: "fail",
  undeclaredGroup: "fail",
  expiryGraceHours: 12,
};

/** Nothing but what the standards say, and revocation lists at hand. */
export const strictPolicy: VerificationPolicy = {
  securityObject: {
    digestInfoWithoutNull: false,
    rawEcdsa: false,
    wrongCurveOfSameSize: false,
    signerIdMismatch: false,
    noSignedAttributes: false,
    legacyContentType: false,
  },
  signerCertificate: {
    digestInfoWithoutNull: false,
    rawEcdsa: false,
    wrongCurveOfSameSize: false,
    keyUsage: "fail",
    unknownCriticalExtension: "fail",
  },
  authority: { issuerMismatch: "fail", notMarkedAsAuthority: "fail" },
  signedAfterKeyUsagePeriod: "fail",
  sha1: "fail",
  minimumRsaBits: 2048,
  missingRevocationList: "fail",
  staleRevocationList: "fail",
  countryMismatch: "fail",
  undeclaredGroup: "fail",
  expiryGraceHours: 12,
};
