import type { Purpose } from "./trust-anchor.ts";

/** A list of trusted authorities whose signature was checked. */
export type TrustedList = {
  issuedAt: Date;
  /** When its publisher replaces it. A reader returns a list that is past this time too: how long it still counts is the operator's decision. */
  nextUpdate: Date | null;
  /** Grows with every edition. Null where the format or the publisher has none. */
  sequence: number | null;
  /** Certificates in DER, each once for a purpose. */
  anchors: readonly { purpose: Purpose; certificate: Uint8Array }[];
  /**
   * Authorities that a list names for status lists alone. They may say that a credential of this purpose no longer counts, and issue none.
   * Absent where the format makes no difference.
   */
  statusAnchors?: readonly { purpose: Purpose; certificate: Uint8Array }[];
  /** The certificate whose key signed the list, in DER. */
  signer: Uint8Array;
};

/**
 * Who may sign a list: the signer's certificate, or that of an authority above it. Either by its SHA-256 fingerprint in hexadecimal, which
 * needs the certificate to come with the list, or in DER.
 */
export type ListSigner = string | Uint8Array;
