import { ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";
import { readWhole } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { bytesToBigInt, concat, equal, uintBytes } from "../bytes.ts";
import type { CalculableCurve } from "../crypto/curve-points.ts";
import { decodePoint } from "../crypto/key-agreement.ts";
import { bitLength, modInverse, modPow } from "../crypto/prime.ts";
import { readSubjectPublicKey } from "../crypto/subject-public-key.ts";
import { isEmrtdError } from "../emrtd-error.ts";

/**
 * Active authentication, ICAO Doc 9303-11, section 6.1, on the server: it chose the challenge, the chip
 * signed it, and the public key is in DG15. The key proves nothing unless a verified SOD covers DG15.
 */

type ActiveAuthenticationHash =
  | "RIPEMD-160"
  | "SHA-1"
  | "SHA-224"
  | "SHA-256"
  | "SHA-384"
  | "SHA-512"
  | "SHA-512/224"
  | "SHA-512/256";

type HashFunction = (data: Uint8Array) => Uint8Array;

const hashFunctions: Readonly<Record<ActiveAuthenticationHash, HashFunction>> = {
  "RIPEMD-160": ripemd160,
  "SHA-1": sha1,
  "SHA-224": sha224,
  "SHA-256": sha256,
  "SHA-384": sha384,
  "SHA-512": sha512,
  "SHA-512/224": sha512_224,
  "SHA-512/256": sha512_256,
};

type ActiveAuthenticationVerdict =
  | {
      readonly verified: true;
      readonly keyKind: "RSA" | "EC";
      readonly keyBits: number;
      readonly hash: ActiveAuthenticationHash;
      readonly encoding: "iso-9796-2" | "plain" | "der";
    }
  | {
      readonly verified: false;
      readonly reason: "KEY_INVALID" | "KEY_TOO_SHORT" | "SIGNATURE_INVALID";
    };

type ActiveAuthenticationInput = {
  /** SubjectPublicKeyInfo from DG15. */
  readonly publicKey: Uint8Array;
  /** The eight bytes that were sent to this chip in this try. */
  readonly challenge: Uint8Array;
  readonly signature: Uint8Array;
  /** From ActiveAuthenticationInfo in DG14. Without it the hashes that chips use are tried in turn. */
  readonly signatureAlgorithm?: string;
};

/** BSI TR-03111 plain ECDSA; some states write the X9.62 identifiers instead. */
const ecdsaHash: Readonly<Record<string, ActiveAuthenticationHash>> = {
  "0.4.0.127.0.7.1.1.4.1.1": "SHA-1",
  "0.4.0.127.0.7.1.1.4.1.2": "SHA-224",
  "0.4.0.127.0.7.1.1.4.1.3": "SHA-256",
  "0.4.0.127.0.7.1.1.4.1.4": "SHA-384",
  "0.4.0.127.0.7.1.1.4.1.5": "SHA-512",
  "0.4.0.127.0.7.1.1.4.1.6": "RIPEMD-160",
  "1.2.840.10045.4.1": "SHA-1",
  "1.2.840.10045.4.3.1": "SHA-224",
  "1.2.840.10045.4.3.2": "SHA-256",
  "1.2.840.10045.4.3.3": "SHA-384",
  "1.2.840.10045.4.3.4": "SHA-512",
};
const ecdsaHashesToTry: readonly ActiveAuthenticationHash[] = [
  "SHA-256",
  "SHA-1",
  "SHA-384",
  "SHA-512",
  "SHA-224",
];

export const challengeBytes = 8;
const minRsaBits = 1024;
const maxSignatureBytes = 1100;

export function verifyActiveAuthentication(input: ActiveAuthenticationInput): ActiveAuthenticationVerdict {
  if (input.challenge.length !== challengeBytes || input.signature.length > maxSignatureBytes) {
    return { verified: false, reason: "SIGNATURE_INVALID" };
  }
  try {
    const key = readSubjectPublicKey(input.publicKey);
    if (key.kind === "RSA") {
      if (key.bits < minRsaBits) return { verified: false, reason: "KEY_TOO_SHORT" };
      return verifyRsa(key, input.challenge, input.signature);
    }
    if (key.kind === "EC") return verifyEcdsa(key.curve, key.point, input);
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
  }
  return { verified: false, reason: "KEY_INVALID" };
}

/** Trailer bytes of ISO/IEC 10118-3 hash functions, in front of CC. */
const trailerHash: Readonly<Record<number, ActiveAuthenticationHash>> = {
  49: "RIPEMD-160",
  51: "SHA-1",
  52: "SHA-256",
  53: "SHA-512",
  54: "SHA-384",
  56: "SHA-224",
  57: "SHA-512/224",
  58: "SHA-512/256",
};

function verifyRsa(
  key: { readonly modulus: bigint; readonly exponent: bigint; readonly bits: number },
  challenge: Uint8Array,
  signature: Uint8Array,
): ActiveAuthenticationVerdict {
  const value = bytesToBigInt(signature);
  // Chips drop or add leading zeros; the number is what was signed.
  if (signature.length === 0 || value >= key.modulus) return { verified: false, reason: "SIGNATURE_INVALID" };
  const opened = modPow(value, key.exponent, key.modulus);
  // ISO/IEC 9796-2 lets the signer use the smaller of s and n - s; the last nibble shows which one.
  const representative = (opened & 15n) === 12n ? opened : key.modulus - opened;
  const hash = checkRecoveredMessage(uintBytes(representative, Math.ceil(key.bits / 8)), challenge);
  if (hash === null) return { verified: false, reason: "SIGNATURE_INVALID" };
  return { verified: true, keyKind: "RSA", keyBits: key.bits, hash, encoding: "iso-9796-2" };
}

/**
 * Digital signature scheme 1 of ISO/IEC 9796-2 with partial recovery: 6A, M1, hash of M1 and challenge,
 * trailer. Total recovery (4A) does not cover the challenge and could be replayed, so it is refused.
 */
export function checkRecoveredMessage(
  message: Uint8Array,
  challenge: Uint8Array,
): ActiveAuthenticationHash | null {
  const last = message[message.length - 1];
  let hashName: ActiveAuthenticationHash | null;
  let trailerBytes: number;
  if (last === 0xbc) {
    hashName = "SHA-1";
    trailerBytes = 1;
  } else if (last === 0xcc) {
    hashName = trailerHash[message[message.length - 2] ?? 0] ?? null;
    trailerBytes = 2;
  } else {
    return null;
  }
  if (hashName === null) return null;
  const first = message[0] ?? 0;
  if (first >> 4 !== 6) return null;
  let start = 1;
  // The padding between header and message is nibbles B, closed by A.
  let nibble = first & 15;
  while (nibble === 0xb && start < message.length) {
    const next = message[start++] ?? 0;
    if (next >> 4 !== 0xb) return null;
    nibble = next & 15;
  }
  if (nibble !== 0xa) return null;
  const hash = hashFunctions[hashName];
  const digestBytes = hash(new Uint8Array(0)).length;
  const end = message.length - trailerBytes - digestBytes;
  if (end < start) return null;
  const digest = hash(concat(message.subarray(start, end), challenge));
  return equal(digest, message.subarray(end, end + digestBytes)) ? hashName : null;
}

function verifyEcdsa(
  curve: CalculableCurve,
  point: Uint8Array,
  input: ActiveAuthenticationInput,
): ActiveAuthenticationVerdict {
  const publicPoint = decodePoint(curve.points, point);
  const { n, p } = curve.points.CURVE();
  const named = input.signatureAlgorithm === undefined ? undefined : ecdsaHash[input.signatureAlgorithm];
  const hashes = named === undefined ? ecdsaHashesToTry : [named];
  for (const { r, s, encoding } of ecdsaReadings(input.signature, n)) {
    if (r <= 0n || r >= n || s <= 0n || s >= n) continue;
    const inverse = modInverse(s, n);
    for (const hash of hashes) {
      const digest = leftmostBits(hashFunctions[hash](input.challenge), bitLength(n));
      const sum = curve.points.BASE.mulAddUnsafe((digest * inverse) % n, publicPoint, (r * inverse) % n);
      if (!sum.is0() && sum.toAffine().x % n === r) {
        return { verified: true, keyKind: "EC", keyBits: bitLength(p), hash, encoding };
      }
    }
  }
  return { verified: false, reason: "SIGNATURE_INVALID" };
}

function leftmostBits(digest: Uint8Array, bits: number): bigint {
  const value = bytesToBigInt(digest);
  const excess = digest.length * 8 - bits;
  return excess > 0 ? value >> BigInt(excess) : value;
}

/** Plain r and s of equal length is what the standard asks for; DER is what several states send. */
function ecdsaReadings(
  signature: Uint8Array,
  n: bigint,
): { r: bigint; s: bigint; encoding: "plain" | "der" }[] {
  const readings: { r: bigint; s: bigint; encoding: "plain" | "der" }[] = [];
  const half = signature.length / 2;
  if (Number.isInteger(half) && half > 0 && half <= Math.ceil(bitLength(n) / 8) + 1) {
    readings.push({
      r: bytesToBigInt(signature.subarray(0, half)),
      s: bytesToBigInt(signature.subarray(half)),
      encoding: "plain",
    });
  }
  if (signature[0] === tags.sequence) {
    try {
      const sequence = readWhole(signature, { maxBytes: 256, maxDepth: 2, maxNodes: 4 });
      readings.push({
        r: bytesToBigInt(sequence.at(0, "r", tags.integer).unsignedBytes()),
        s: bytesToBigInt(sequence.at(1, "s", tags.integer).unsignedBytes()),
        encoding: "der",
      });
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
    }
  }
  return readings;
}
