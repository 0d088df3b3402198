import { OID } from "../ber/oid.ts";
import { readWhole } from "../ber/read.ts";
import { TAG } from "../ber/tag.ts";
import { bytesToBigInt } from "../bytes.ts";
import type { CalculableCurve } from "../crypto/curve-points.ts";
import { ecDomain, type KeyAgreementDomain } from "../crypto/key-agreement.ts";
import { readCurve, readDhDomain } from "../crypto/subject-public-key.ts";
import { EmrtdError } from "../emrtd-error.ts";

/** The private key of a software chip. */
export type ChipPrivateKey =
  | { readonly kind: "RSA"; readonly modulus: bigint; readonly privateExponent: bigint }
  | {
      readonly kind: "EC";
      readonly curve: CalculableCurve;
      readonly scalar: bigint;
      readonly domain: KeyAgreementDomain;
    }
  | { readonly kind: "DH"; readonly scalar: bigint; readonly domain: KeyAgreementDomain };

/** Reads PKCS #8, which is what every key generator writes. */
export function readPkcs8(bytes: Uint8Array): ChipPrivateKey {
  const info = readWhole(bytes, { maxBytes: 16_384, maxDepth: 8 }).expect(TAG.sequence, "PrivateKeyInfo");
  const algorithm = info.at(1, "algorithm", TAG.sequence);
  const key = readWhole(info.at(2, "privateKey", TAG.octetString).octetString(), {
    maxBytes: 16_384,
    maxDepth: 4,
  });
  switch (algorithm.at(0, "algorithm identifier", TAG.oid).oid()) {
    case OID.rsaEncryption:
      return {
        kind: "RSA",
        modulus: bytesToBigInt(key.at(1, "modulus", TAG.integer).unsignedBytes()),
        privateExponent: bytesToBigInt(key.at(3, "privateExponent", TAG.integer).unsignedBytes()),
      };
    case OID.ecPublicKey: {
      const curve = readCurve(algorithm.children()[1]);
      const scalar = bytesToBigInt(key.at(1, "privateKey", TAG.octetString).octetString());
      return { kind: "EC", curve, scalar, domain: ecDomain(curve) };
    }
    case OID.dhKeyAgreement:
    case OID.dhPublicNumber:
      return {
        kind: "DH",
        scalar: bytesToBigInt(key.expect(TAG.integer, "privateKey").unsignedBytes()),
        domain: readDhDomain(algorithm),
      };
    default:
      throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The kind of the private key is not known");
  }
}
