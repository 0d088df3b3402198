import {
  constants,
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  privateEncrypt,
  sign,
} from "node:crypto";
import { oids } from "../../ber/oid.ts";
import { bitString, contextTag, integer, nullValue, octetString, oid, sequence } from "../../ber/write.ts";
import { bytesToBigInt, concat, uintBytes } from "../../bytes.ts";
import { type CurveName, curveNamed } from "../../crypto/curves.ts";
import { type DigestName, digests } from "../../crypto/digests.ts";
import { modInverse } from "../../crypto/prime.ts";
import { pssAlgorithm, type SignatureScheme } from "../../crypto/signature-scheme.ts";
import { type RsaTestKeyName, rsaTestKeys } from "./rsa-test-keys.ts";
import { seededBytes, seededScalar } from "./seeded.ts";

export function digestOf(hash: DigestName, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash(digests[hash].node).update(bytes).digest());
}

/**
 * A key of the test country.
 * Its signatures depend only on key and message, so that documents are reproducible.
 */
export type SigningKey = {
  readonly subjectPublicKeyInfo: Uint8Array;
  /** PKCS#8, for keys that a chip holds. */
  readonly pkcs8: Uint8Array;
  readonly sign: (scheme: SignatureScheme, message: Uint8Array) => Uint8Array;
};

/** Names of node:crypto that differ from those of the standards. */
const nodeCurveNames: Partial<Record<CurveName, string>> = {
  secp192r1: "prime192v1",
  secp256r1: "prime256v1",
};

type EcKeyOptions = {
  /** Spell the curve out in the key instead of naming it, as most states do. */
  readonly explicitParameters: boolean;
};

export function ecSigningKey(
  seed: string,
  label: string,
  curveName: CurveName,
  options: EcKeyOptions,
): SigningKey {
  const curve = curveNamed(curveName);
  const scalar = seededScalar(seed, `${label} ${curveName}`, curve.n);
  const scalarBytes = uintBytes(scalar, curve.orderBytes);
  const point = multiplyBase(curveName, scalarBytes);
  const parameters = options.explicitParameters ? explicitParameters(curveName) : oid(curve.oid);
  const algorithm = sequence(oid(oids.ecPublicKey), parameters);
  return {
    subjectPublicKeyInfo: sequence(algorithm, bitString(point)),
    pkcs8: sequence(
      integer(0),
      algorithm,
      octetString(sequence(integer(1), octetString(scalarBytes), contextTag(1, bitString(point)))),
    ),
    sign: (scheme, message) => {
      if (scheme.kind !== "ecdsa") throw new TypeError("An elliptic curve key makes ECDSA signatures only");
      const digest = digestOf(scheme.hash, message);
      const { r, s } = signDigest(curveName, scalar, digest);
      return sequence(integer(r), integer(s));
    },
  };
}

/**
 * SubjectPublicKeyInfo on a sound curve (SEC 2) that no travel document uses and this package does not know.
 */
export function secp256k1PublicKey(seed: string, label: string): Uint8Array {
  const ecdh = createECDH("secp256k1");
  ecdh.setPrivateKey(seededBytes(seed, `${label} secp256k1`, 32));
  const algorithm = sequence(oid(oids.ecPublicKey), oid("1.3.132.0.10"));
  return sequence(algorithm, bitString(new Uint8Array(ecdh.getPublicKey())));
}

function multiplyBase(curveName: CurveName, scalar: Uint8Array): Uint8Array {
  const ecdh = createECDH(nodeCurveNames[curveName] ?? curveName);
  ecdh.setPrivateKey(scalar);
  return new Uint8Array(ecdh.getPublicKey());
}

/**
 * ECDSA with a nonce derived from key and message: the random nonce of node:crypto would differ between runs.
 */
function signDigest(curveName: CurveName, scalar: bigint, digest: Uint8Array): { r: bigint; s: bigint } {
  const { n, orderBytes, fieldBytes } = curveNamed(curveName);
  const orderBits = n.toString(2).length;
  const excess = Math.max(digest.length * 8 - orderBits, 0);
  const z = bytesToBigInt(digest) >> BigInt(excess);
  for (let attempt = 0; ; attempt++) {
    const k = seededScalar(`${scalar}`, `nonce ${Buffer.from(digest).toString("hex")} ${attempt}`, n);
    const r =
      bytesToBigInt(multiplyBase(curveName, uintBytes(k, orderBytes)).subarray(1, 1 + fieldBytes)) % n;
    const s = (modInverse(k, n) * (z + r * scalar)) % n;
    if (r !== 0n && s !== 0n) return { r, s };
  }
}

function explicitParameters(curveName: CurveName): Uint8Array {
  const { p, a, b, gx, gy, n, fieldBytes } = curveNamed(curveName);
  const coordinate = (value: bigint) => uintBytes(value, fieldBytes);
  return sequence(
    integer(1),
    sequence(oid(oids.primeField), integer(p)),
    sequence(octetString(coordinate(a)), octetString(coordinate(b))),
    octetString(Uint8Array.of(4), coordinate(gx), coordinate(gy)),
    integer(n),
    integer(1),
  );
}

/** RSA keys cannot be derived quickly, so they are fixed and the seed does not change them. */
export function rsaSigningKey(name: RsaTestKeyName): SigningKey {
  const pkcs8 = Buffer.from(rsaTestKeys[name], "base64");
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  const modulusBits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  return {
    subjectPublicKeyInfo: new Uint8Array(createPublicKey(key).export({ format: "der", type: "spki" })),
    pkcs8: new Uint8Array(pkcs8),
    sign: (scheme, message) => {
      if (scheme.kind === "ecdsa") throw new TypeError("An RSA key cannot make an ECDSA signature");
      if (scheme.kind === "rsa_pkcs1") return new Uint8Array(sign(digests[scheme.hash].node, message, key));
      const block = encodePss(scheme, message, modulusBits - 1);
      return new Uint8Array(privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, block));
    },
  };
}

/** EMSA-PSS with a salt derived from the message, for the same reason as the nonce above. */
function encodePss(
  { hash, mgfHash, saltBytes }: Extract<SignatureScheme, { kind: "rsa_pss" }>,
  message: Uint8Array,
  blockBits: number,
): Uint8Array {
  const blockBytes = Math.ceil(blockBits / 8);
  const digest = digestOf(hash, message);
  const salt = seededBytes(Buffer.from(digest).toString("hex"), "salt", saltBytes);
  const inner = digestOf(hash, concat(new Uint8Array(8), digest, salt));
  const padding = new Uint8Array(blockBytes - saltBytes - digest.length - 2);
  const data = concat(padding, Uint8Array.of(1), salt);
  const mask = maskBytes(mgfHash, inner, data.length);
  const masked = data.map((byte, index) => byte ^ (mask[index] ?? 0));
  masked[0] = (masked[0] ?? 0) & (0xff >> (8 * blockBytes - blockBits));
  return concat(masked, inner, Uint8Array.of(0xbc));
}

function maskBytes(hash: DigestName, from: Uint8Array, length: number): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let counter = 0, made = 0; made < length; counter++) {
    const block = digestOf(hash, concat(from, uintBytes(counter, 4)));
    blocks.push(block);
    made += block.length;
  }
  return concat(...blocks).subarray(0, length);
}

export function signatureAlgorithm(scheme: SignatureScheme): Uint8Array {
  switch (scheme.kind) {
    case "rsa_pkcs1":
      return sequence(oid(digests[scheme.hash].rsa_pkcs1), nullValue());
    case "ecdsa":
      return sequence(oid(digests[scheme.hash].ecdsa));
    case "rsa_pss":
      return pssAlgorithm(scheme);
  }
}
