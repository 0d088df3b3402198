import type { JWK } from "jose";

/**
 * What a presentation must be bound to, so that no other request can use it.
 * All of it comes from our records.
 */
export type HolderBinding = {
  /**
   * The private key for decrypting the answer, on P-256. A wallet may authenticate an mdoc with a MAC from
   * this key (ISO/IEC 18013-5, 9.1.3.5); without the key such an answer is refused.
   */
  readerKey?: JWK;
} & (
  | {
      kind: "redirect";
      /** With its prefix. */
      clientId: string;
      nonce: string;
      responseUri: string;
      /** RFC 7638 SHA-256 thumbprint of our encryption key; null where the answer is not encrypted. */
      keyThumbprint: Uint8Array | null;
    }
  | { kind: "dc_api"; origin: string; nonce: string; keyThumbprint: Uint8Array | null }
  /** ISO/IEC 18013-7 Annex C. `encryptionInfo` as it was sent, in base64url. */
  | { kind: "annex_c"; origin: string; encryptionInfo: string }
);
