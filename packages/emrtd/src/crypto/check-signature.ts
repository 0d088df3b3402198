import { curveNamed, curves } from "./curves.ts";
import type { EcPublicKey, PublicKey } from "./public-key.ts";
import type { SignatureChecker } from "./signature.ts";
import type { SignatureScheme } from "./signature-scheme.ts";

/** Which deviations from the standards a signature may have. Each that was needed is reported by its name. */
export type SignatureTolerance = {
  /** PKCS#1 v1.5 whose DigestInfo has no NULL. */
  readonly digestInfoWithoutNull: boolean;
  /** ECDSA values side by side under an identifier that promises DER. */
  readonly rawEcdsa: boolean;
  /** The key names another curve of the same size than the one it was made on. */
  readonly wrongCurveOfSameSize: boolean;
};

export type SignatureWarning =
  | "digest_info_without_null"
  | "raw_ecdsa_signature"
  | "wrong_curve_of_same_size";

export type SignatureVerdict = {
  readonly valid: boolean;
  readonly warnings: readonly SignatureWarning[];
};

const invalidVerdict: SignatureVerdict = { valid: false, warnings: [] };
const validVerdict: SignatureVerdict = { valid: true, warnings: [] };

export const strictSignatures: SignatureTolerance = {
  digestInfoWithoutNull: false,
  rawEcdsa: false,
  wrongCurveOfSameSize: false,
};

export type SignatureToCheck = {
  readonly scheme: SignatureScheme;
  readonly key: PublicKey;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
};

export function checkSignature(
  checker: SignatureChecker,
  { scheme, key, message, signature }: SignatureToCheck,
  tolerance: SignatureTolerance,
): SignatureVerdict {
  switch (scheme.kind) {
    case "rsa_pkcs1":
      if (key.kind !== "rsa") return invalidVerdict;
      if (checker.verifyRsaPkcs1(key, scheme.hash, message, signature)) return validVerdict;
      if (
        tolerance.digestInfoWithoutNull &&
        checker.verifyRsaPkcs1WithoutNull(key, scheme.hash, message, signature)
      ) {
        return { valid: true, warnings: ["digest_info_without_null"] };
      }
      return invalidVerdict;
    case "rsa_pss":
      if (key.kind !== "rsa") return invalidVerdict;
      return checker.verifyRsaPss(key, scheme, message, signature) ? validVerdict : invalidVerdict;
    case "ecdsa": {
      if (key.kind !== "ec") return invalidVerdict;
      const stated = checkEcdsa(checker, key, { scheme, message, signature }, tolerance);
      if (stated.valid || !tolerance.wrongCurveOfSameSize) return stated;
      const { fieldBytes } = curveNamed(key.curve);
      for (const curve of curves) {
        if (curve.fieldBytes !== fieldBytes || curve.name === key.curve) continue;
        const other = checkEcdsa(
          checker,
          { ...key, curve: curve.name, plainEncoding: null },
          { scheme, message, signature },
          tolerance,
        );
        if (other.valid) return { valid: true, warnings: [...other.warnings, "wrong_curve_of_same_size"] };
      }
      return invalidVerdict;
    }
  }
}

function checkEcdsa(
  checker: SignatureChecker,
  key: EcPublicKey,
  { scheme, message, signature }: Omit<SignatureToCheck, "key">,
  tolerance: SignatureTolerance,
): SignatureVerdict {
  if (checker.verifyEcdsa(key, scheme.hash, message, signature, "der")) return validVerdict;
  const isRawLength = signature.length === 2 * curveNamed(key.curve).orderBytes;
  if (tolerance.rawEcdsa && isRawLength && checker.verifyEcdsa(key, scheme.hash, message, signature, "raw")) {
    return { valid: true, warnings: ["raw_ecdsa_signature"] };
  }
  return invalidVerdict;
}
