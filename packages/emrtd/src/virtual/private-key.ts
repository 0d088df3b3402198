import { oids } from "../ber/oid.ts";
import { readWhole } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
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
  const info = readWhole(bytes, { maxBytes: 16_384, maxDepth: 8 }).expect(tags.sequence, "PrivateKeyInfo");
  const algorithm = info.at(1, "algorithm", tags.sequence);
  const key = readWhole(info.at(2, "privateKey", tags.octetString).octetString(), {
    maxBytes: 16_384,
    maxDepth: 4,
  });
  switch (algorithm.at(0, "algorithm identifier", tags.oid).oid()) {
    case oids.rsaEncryption:
      return {
        kind: "RSA",
        modulus: bytesToBigInt(key.at(1, "modulus", tags.integer).unsignedBytes()),
        privateExponent: bytesToBigInt(key.at(3, "privateExponent", tags.integer).unsignedBytes()),
      };
    case oids.ecPublicKey: {
      const curve = readCurve(algorithm.children()[1]);
      const scalar = bytesToBigInt(key.at(1, "privateKey", tags.octetString).octetString());
      return { kind: "EC", curve, scalar, domain: ecDomain(curve) };
    }
    case oids.dhKeyAgreement:
    case oids.dhPublicNumber:
      return {
        kind: "DH",
        scalar: bytesToBigInt(key.expect(tags.integer, "privateKey").unsignedBytes()),
        domain: readDhDomain(algorithm),
      };
    default:
      throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The kind of the private key is not known");
  }
}
