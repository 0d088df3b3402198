import type { DigestName } from "./digests.ts";
import type { EcPublicKey, RsaPublicKey } from "./public-key.ts";
import type { PssParameters } from "./signature-scheme.ts";

/** DER is SEQUENCE { r, s }; raw is r and s side by side, each as long as the order of the curve. */
export type EcdsaEncoding = "der" | "raw";

/**
 * Cryptographic primitives, supplied by the caller: node:crypto on the server, others in a browser. An
 * implementation returns `false` for every invalid or malformed signature. Each method accepts exactly one
 * form.
 */
export type SignatureChecker = {
  hash(hash: DigestName, bytes: Uint8Array): Uint8Array;
  verifyRsaPkcs1(key: RsaPublicKey, hash: DigestName, message: Uint8Array, signature: Uint8Array): boolean;
  /**
   * PKCS#1 v1.5 whose DigestInfo lacks the NULL of its algorithm. The whole padded block is compared with the
   * only correct one; nothing is parsed.
   */
  verifyRsaPkcs1WithoutNull(
    key: RsaPublicKey,
    hash: DigestName,
    message: Uint8Array,
    signature: Uint8Array,
  ): boolean;
  verifyRsaPss(
    key: RsaPublicKey,
    parameters: PssParameters,
    message: Uint8Array,
    signature: Uint8Array,
  ): boolean;
  verifyEcdsa(
    key: EcPublicKey,
    hash: DigestName,
    message: Uint8Array,
    signature: Uint8Array,
    encoding: EcdsaEncoding,
  ): boolean;
};
