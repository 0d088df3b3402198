import { oids } from "../ber/oid.ts";
import { readWhole, type Tlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { bytesToBigInt } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import {
  type CalculableCurve,
  curveFromParameters,
  standardizedCurveOfId,
  standardizedCurveOfOid,
} from "./curve-points.ts";
import { checkedDhDomain, ecDomain, type KeyAgreementDomain, standardizedDomain } from "./key-agreement.ts";
import { bitLength } from "./prime.ts";

/** The chip's keys in DG14, DG15 and CardSecurity: a SubjectPublicKeyInfo. */
type SubjectPublicKey =
  | { readonly kind: "RSA"; readonly modulus: bigint; readonly exponent: bigint; readonly bits: number }
  | { readonly kind: "EC"; readonly curve: CalculableCurve; readonly point: Uint8Array }
  | { readonly kind: "DH"; readonly domain: KeyAgreementDomain; readonly publicKey: Uint8Array };

/** BSI TR-03110: the algorithm whose parameter is the number of a standardized domain. */
const standardizedDomainOid = "0.4.0.127.0.7.1.2";
const maxKeyBytes = 8192;
const maxRsaBits = 8192;
const maxExponentBits = 64;

export function readSubjectPublicKey(bytes: Uint8Array): SubjectPublicKey {
  const info = readWhole(bytes, { maxBytes: maxKeyBytes, maxDepth: 8, maxNodes: 100 }).expect(
    tags.sequence,
    "SubjectPublicKeyInfo",
  );
  const algorithm = info.at(0, "algorithm", tags.sequence);
  const key = info.at(1, "subjectPublicKey", tags.bitString).bitString();
  if (key.unusedBits !== 0) throw new EmrtdError("CRYPTO_INVALID", "The public key is not whole bytes");
  const parameters = algorithm.children()[1];
  switch (algorithm.at(0, "algorithm identifier", tags.oid).oid()) {
    case oids.rsaEncryption:
      return readRsa(key.bytes);
    case oids.ecPublicKey:
      return { kind: "EC", curve: readCurve(parameters), point: key.bytes };
    case oids.dhKeyAgreement:
    case oids.dhPublicNumber:
      return { kind: "DH", domain: readDhDomain(algorithm), publicKey: integerValue(key.bytes) };
    case standardizedDomainOid:
      return readStandardized(parameters, key.bytes);
    default:
      throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The kind of the public key is not known");
  }
}

/** For key agreement: the domain and the public key in it, checked. */
export function readAgreementKey(bytes: Uint8Array): { domain: KeyAgreementDomain; publicKey: Uint8Array } {
  const key = readSubjectPublicKey(bytes);
  if (key.kind === "RSA")
    throw new EmrtdError("ALGORITHM_UNSUPPORTED", "An RSA key cannot agree on a secret");
  const domain = key.kind === "EC" ? ecDomain(key.curve) : key.domain;
  const publicKey = key.kind === "EC" ? key.point : key.publicKey;
  domain.checkPublicKey(publicKey);
  return { domain, publicKey };
}

/** The AlgorithmIdentifier of a domain, as in EF.CardAccess for PACE. */
export function readDomain(algorithmIdentifier: Uint8Array): KeyAgreementDomain {
  const algorithm = readWhole(algorithmIdentifier, {
    maxBytes: maxKeyBytes,
    maxDepth: 8,
    maxNodes: 100,
  }).expect(tags.sequence, "AlgorithmIdentifier");
  switch (algorithm.at(0, "algorithm identifier", tags.oid).oid()) {
    case oids.ecPublicKey:
      return ecDomain(readCurve(algorithm.children()[1]));
    case oids.dhKeyAgreement:
    case oids.dhPublicNumber:
      return readDhDomain(algorithm);
    case standardizedDomainOid:
      return standardizedDomain(algorithm.at(1, "number of the domain", tags.integer).smallInteger());
    default:
      throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The kind of the domain is not known");
  }
}

function readRsa(bytes: Uint8Array): SubjectPublicKey {
  const sequence = readWhole(bytes, { maxBytes: maxKeyBytes, maxDepth: 2 }).expect(
    tags.sequence,
    "RSAPublicKey",
  );
  const modulus = bytesToBigInt(sequence.at(0, "modulus", tags.integer).unsignedBytes());
  const exponent = bytesToBigInt(sequence.at(1, "publicExponent", tags.integer).unsignedBytes());
  const bits = bitLength(modulus);
  // A huge exponent would only serve to keep the verifier busy.
  if (bits > maxRsaBits || bits < 512 || bitLength(exponent) > maxExponentBits || exponent < 3n) {
    throw new EmrtdError("CRYPTO_INVALID", "The RSA key is out of bounds");
  }
  if ((exponent & 1n) === 0n || (modulus & 1n) === 0n)
    throw new EmrtdError("CRYPTO_INVALID", "The RSA key is even");
  return { kind: "RSA", modulus, exponent, bits };
}

export function readCurve(parameters: Tlv | undefined): CalculableCurve {
  if (parameters?.tag === tags.oid) {
    const curve = standardizedCurveOfOid(parameters.oid());
    if (curve === null) throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The named curve is not known");
    return curve;
  }
  if (parameters?.tag !== tags.sequence) {
    throw new EmrtdError("CRYPTO_INVALID", "The elliptic curve key does not name its curve");
  }
  return readParameters(parameters);
}

function readParameters(parameters: Tlv): CalculableCurve {
  const field = parameters.at(1, "fieldID", tags.sequence);
  if (field.at(0, "fieldType", tags.oid).oid() !== oids.primeField) {
    throw new EmrtdError("ALGORITHM_UNSUPPORTED", "Only curves over prime fields are supported");
  }
  const curve = parameters.at(2, "curve", tags.sequence);
  const base = parameters.at(3, "base", tags.octetString).octetString();
  const coordinateBytes = (base.length - 1) / 2;
  if (base[0] !== 4 || !Number.isInteger(coordinateBytes)) {
    throw new EmrtdError("CRYPTO_INVALID", "The generator of the curve is not an uncompressed point");
  }
  const cofactor = parameters.children()[5];
  return curveFromParameters({
    p: bytesToBigInt(field.at(1, "prime", tags.integer).unsignedBytes()),
    a: bytesToBigInt(curve.at(0, "a", tags.octetString).octetString()),
    b: bytesToBigInt(curve.at(1, "b", tags.octetString).octetString()),
    Gx: bytesToBigInt(base.subarray(1, 1 + coordinateBytes)),
    Gy: bytesToBigInt(base.subarray(1 + coordinateBytes)),
    n: bytesToBigInt(parameters.at(4, "order", tags.integer).unsignedBytes()),
    h: cofactor?.tag === tags.integer ? bytesToBigInt(cofactor.unsignedBytes()) : 1n,
  });
}

export function readDhDomain(algorithm: Tlv): KeyAgreementDomain {
  const parameters = algorithm.at(1, "DH parameters", tags.sequence);
  const number = (index: number, what: string) =>
    bytesToBigInt(parameters.at(index, what, tags.integer).unsignedBytes());
  // PKCS #3 has a private length in the third place, X9.42 the order of the subgroup.
  const hasOrder = algorithm.at(0, "algorithm identifier", tags.oid).oid() === oids.dhPublicNumber;
  return checkedDhDomain({ p: number(0, "p"), g: number(1, "g"), q: hasOrder ? number(2, "q") : null });
}

function readStandardized(parameters: Tlv | undefined, key: Uint8Array): SubjectPublicKey {
  if (parameters?.tag !== tags.integer) {
    throw new EmrtdError("CRYPTO_INVALID", "The standardized domain has no number");
  }
  const id = parameters.smallInteger();
  const curve = standardizedCurveOfId(id);
  if (curve !== null) return { kind: "EC", curve, point: key };
  return { kind: "DH", domain: standardizedDomain(id), publicKey: integerValue(key) };
}

function integerValue(bytes: Uint8Array): Uint8Array {
  return readWhole(bytes, { maxBytes: maxKeyBytes, maxDepth: 1 })
    .expect(tags.integer, "DH public key")
    .unsignedBytes();
}
