import type { Purpose } from "./trust-anchor.ts";

/** A list of trusted authorities whose signature was checked. */
export type TrustedList = {
  issuedAt: Date;
  /**
   * When its publisher replaces it.
   * Readers also return an outdated list: the operator decides how long it counts.
   */
  nextUpdate: Date | null;
  /** Grows with every edition. Null where the format or the publisher has none. */
  sequence: number | null;
  /** Certificates in DER, each once for a purpose. */
  anchors: readonly { purpose: Purpose; certificate: Uint8Array }[];
  /**
   * Authorities that a list names for status lists only. They may revoke a credential of this purpose, but
   * issue none. Absent if the format does not distinguish them.
   */
  statusAnchors?: readonly { purpose: Purpose; certificate: Uint8Array }[];
  /** The certificate whose key signed the list, in DER. */
  signer: Uint8Array;
};

/**
 * Who may sign a list: the signer's certificate, or that of an authority above it. Given in DER, or as a
 * SHA-256 fingerprint in hexadecimal if the list carries the certificate.
 */
export type ListSigner = string | Uint8Array;
