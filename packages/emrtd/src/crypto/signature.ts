import type { DigestName } from "../lds/lds-security-object.ts";
import type { EcPublicKey, RsaPublicKey } from "./public-key.ts";
import type { PssParameters } from "./signature-scheme.ts";

/** DER is SEQUENCE { r, s }; raw is r and s side by side, each as long as the order of the curve. */
export type EcdsaEncoding = "der" | "raw";

/**
 * The primitives that verification stands on, supplied by the caller: node:crypto on the server, anything else in a
 * browser. An implementation answers `false` for whatever is not a valid signature, malformed ones included, and never
 * decides about tolerance: each method accepts exactly one form.
 */
export type SignatureChecker = {
  hash(hash: DigestName, bytes: Uint8Array): Uint8Array;
  verifyRsaPkcs1(key: RsaPublicKey, hash: DigestName, message: Uint8Array, signature: Uint8Array): boolean;
  /**
   * PKCS#1 v1.5 where the DigestInfo leaves out the NULL of its algorithm. The whole padded block is compared with the
   * only one that is right; nothing of it is parsed.
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
