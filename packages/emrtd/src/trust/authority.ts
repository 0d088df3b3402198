import type { Certificate } from "../x509/certificate.ts";
import type { CertificateRevocationList } from "../x509/crl.ts";
import type { TrustSource } from "./trust-record.ts";

/**
 * Why a certificate may vouch for document signers: a signed list or the operator names it, or a trusted
 * authority linked to it. `none`: a link certificate whose predecessor is not (yet) trusted; it vouches for
 * nothing.
 */
type TrustBasis = "named" | "linked" | "none";

export type Authority = {
  readonly certificate: Certificate;
  /** SHA-256 of the certificate, in hexadecimal. */
  readonly fingerprint: string;
  readonly basis: TrustBasis;
  /** The fingerprint of the authority that handed over, when `linked`. */
  readonly linkedFrom: string | null;
  readonly sources: readonly TrustSource[];
};

export type KnownRevocationList = {
  readonly list: CertificateRevocationList;
  /**
   * The authority of the list's name whose key signed it.
   * Null if no key of the store did; such a list is ignored.
   */
  readonly issuer: Authority | null;
  readonly source: TrustSource;
};
