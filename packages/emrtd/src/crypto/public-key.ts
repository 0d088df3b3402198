import { oids } from "../ber/oid.ts";
import { readWhole, type Tlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { bytesToBigInt } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { type Curve, type CurveName, curveOfOid, curveOfParameters } from "./curves.ts";
import { rsaPssOid } from "./signature-scheme.ts";

export type RsaPublicKey = {
  readonly kind: "rsa";
  /** Big-endian, without leading zeros. */
  readonly modulus: Uint8Array;
  readonly exponent: Uint8Array;
  readonly bits: number;
  /** The SubjectPublicKeyInfo, where it is in the plain form that every library reads. */
  readonly plainEncoding: Uint8Array | null;
};

export type EcPublicKey = {
  readonly kind: "ec";
  readonly curve: CurveName;
  /** As encoded in the key: uncompressed or compressed. */
  readonly point: Uint8Array;
  readonly explicitParameters: boolean;
  /** The SubjectPublicKeyInfo, where it names its curve. */
  readonly plainEncoding: Uint8Array | null;
};

export type PublicKey = RsaPublicKey | EcPublicKey;

/** No certificate has a larger key, and verification time grows with the square. */
const maxRsaBits = 8192;
const minRsaBits = 1024;

/**
 * A SubjectPublicKeyInfo.
 * Explicit curve parameters must equal those of a named curve: a key must not choose its curve.
 */
export function readPublicKey(subjectPublicKeyInfo: Uint8Array): PublicKey {
  const info = readWhole(subjectPublicKeyInfo, { maxBytes: 16_384, maxDepth: 8, maxNodes: 64 });
  const algorithm = info
    .expect(tags.sequence, "A public key")
    .at(0, "The algorithm of a public key", tags.sequence);
  const key = info.at(1, "The bits of a public key").bitString();
  if (key.unusedBits !== 0)
    throw new EmrtdError("CRYPTO_INVALID", "A public key is not a whole number of bytes");
  const oid = algorithm.at(0, "The name of a key algorithm").oid();
  // A key marked for PSS is the same key; which scheme counts is said by the signature.
  if (oid === oids.rsaEncryption) return { ...readRsaKey(key.bytes), plainEncoding: subjectPublicKeyInfo };
  if (oid === rsaPssOid) return { ...readRsaKey(key.bytes), plainEncoding: null };
  if (oid === oids.ecPublicKey) {
    const parameters = algorithm.at(1, "The parameters of an elliptic curve key");
    const explicitParameters = parameters.tag !== tags.oid;
    const curve = explicitParameters ? readExplicitParameters(parameters) : namedCurve(parameters.oid());
    checkPoint(key.bytes, curve);
    const plainEncoding = explicitParameters ? null : subjectPublicKeyInfo;
    return { kind: "ec", curve: curve.name, point: key.bytes, explicitParameters, plainEncoding };
  }
  throw new EmrtdError("ALGORITHM_UNSUPPORTED", `The key algorithm ${oid} is not supported`);
}

function readRsaKey(bytes: Uint8Array): Omit<RsaPublicKey, "plainEncoding"> {
  const key = readWhole(bytes, { maxBytes: 4096, maxDepth: 2, maxNodes: 8 }).expect(
    tags.sequence,
    "An RSA key",
  );
  const modulus = key.at(0, "The modulus of an RSA key").unsignedBytes();
  const exponent = key.at(1, "The exponent of an RSA key").unsignedBytes();
  const bits = (modulus.length - 1) * 8 + (32 - Math.clz32(modulus[0] ?? 0));
  if (bits < minRsaBits || bits > maxRsaBits) {
    throw new EmrtdError("CRYPTO_INVALID", `An RSA key of ${bits} bits is not accepted`);
  }
  const lowest = exponent[exponent.length - 1] ?? 0;
  if (exponent.length > 8 || (lowest & 1) === 0 || (exponent.length === 1 && lowest < 3)) {
    throw new EmrtdError("CRYPTO_INVALID", "The exponent of an RSA key is not accepted");
  }
  return { kind: "rsa", modulus, exponent, bits };
}

function namedCurve(oid: string): Curve {
  const curve = curveOfOid(oid);
  if (curve === null) throw new EmrtdError("ALGORITHM_UNSUPPORTED", `The curve ${oid} is not supported`);
  return curve;
}

function readExplicitParameters(parameters: Tlv): Curve {
  parameters.expect(tags.sequence, "The parameters of an elliptic curve key");
  const field = parameters.at(1, "The field of a curve", tags.sequence);
  if (field.at(0, "The type of a field").oid() !== oids.primeField) {
    throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The curve is not over a prime field");
  }
  const coefficients = parameters.at(2, "The coefficients of a curve", tags.sequence);
  const generator = parameters.at(3, "The generator of a curve").octetString();
  const cofactor = parameters.children()[5];
  const form = generator[0];
  const compressed = form === 2 || form === 3;
  const end = compressed ? generator.length : (generator.length + 1) / 2;
  const gy = bytesToBigInt(generator.subarray(end));
  const curve = curveOfParameters(
    {
      p: bytesToBigInt(field.at(1, "The prime of a field").unsignedBytes()),
      a: bytesToBigInt(coefficients.at(0, "The coefficient a").octetString()),
      b: bytesToBigInt(coefficients.at(1, "The coefficient b").octetString()),
      gx: bytesToBigInt(generator.subarray(1, end)),
      n: bytesToBigInt(parameters.at(4, "The order of a curve").unsignedBytes()),
    },
    // The parity decides where the generator is compressed.
    (y) => (compressed ? (y & 1n) === (form === 3 ? 1n : 0n) : y === gy),
  );
  const hasOtherCofactor = cofactor?.tag === tags.integer && cofactor.integer() !== 1n;
  if (curve === null || hasOtherCofactor || (form !== 4 && !compressed)) {
    throw new EmrtdError(
      "ALGORITHM_UNSUPPORTED",
      "The explicit curve parameters are those of no known curve",
    );
  }
  return curve;
}

function checkPoint(point: Uint8Array, curve: Curve): void {
  const form = point[0];
  const uncompressed = form === 4 && point.length === 1 + 2 * curve.fieldBytes;
  const compressed = (form === 2 || form === 3) && point.length === 1 + curve.fieldBytes;
  if (!uncompressed && !compressed) {
    throw new EmrtdError("CRYPTO_INVALID", "The point of an elliptic curve key does not fit its curve");
  }
}

/** For reports: "RSA-2048", "brainpoolP256r1". */
export function describePublicKey(key: PublicKey): string {
  return key.kind === "rsa" ? `RSA-${key.bits}` : key.curve;
}
