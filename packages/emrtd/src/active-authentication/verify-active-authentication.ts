import { ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";
import { readWhole } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { bytesToBigInt, concat, equal, uintBytes } from "../bytes.ts";
import type { CalculableCurve } from "../crypto/curve-points.ts";
import { digestNames, digests } from "../crypto/digests.ts";
import { decodePoint } from "../crypto/key-agreement.ts";
import { bitLength, modInverse, modPow } from "../crypto/prime.ts";
import { readSubjectPublicKey } from "../crypto/subject-public-key.ts";
import { isEmrtdError } from "../emrtd-error.ts";

/**
 * Active authentication, ICAO Doc 9303-11, section 6.1, on the server: it chose the challenge, the chip
 * signed it, and the public key is in DG15. The key proves nothing unless a verified SOD covers DG15.
 */

/**
 * What a chip may sign with: its trailer byte of ISO/IEC 10118-3 in front of CC, and the last number of its
 * identifier for plain ECDSA in BSI TR-03111.
 */
export const challengeHashes = {
  "RIPEMD-160": { digest: ripemd160, trailer: 0x31, plainEcdsa: 6 },
  "SHA-1": { digest: sha1, trailer: 0x33, plainEcdsa: 1 },
  "SHA-224": { digest: sha224, trailer: 0x38, plainEcdsa: 2 },
  "SHA-256": { digest: sha256, trailer: 0x34, plainEcdsa: 3 },
  "SHA-384": { digest: sha384, trailer: 0x36, plainEcdsa: 4 },
  "SHA-512": { digest: sha512, trailer: 0x35, plainEcdsa: 5 },
  "SHA-512/224": { digest: sha512_224, trailer: 0x39, plainEcdsa: null },
  "SHA-512/256": { digest: sha512_256, trailer: 0x3a, plainEcdsa: null },
} as const;

type ActiveAuthenticationHash = keyof typeof challengeHashes;
const hashNames = Object.keys(challengeHashes) as ActiveAuthenticationHash[];

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

const ecdsaHashesToTry = ["SHA-256", "SHA-1", "SHA-384", "SHA-512", "SHA-224"] as const;

/** Some states write the X9.62 identifiers instead of those of BSI TR-03111. */
function ecdsaHash(oid: string | undefined): ActiveAuthenticationHash | null {
  return (
    hashNames.find((name) => oid === `0.4.0.127.0.7.1.1.4.1.${challengeHashes[name].plainEcdsa}`) ??
    digestNames.find((name) => oid === digests[name].ecdsa) ??
    null
  );
}

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
  if (last !== 0xbc && last !== 0xcc) return null;
  const trailerBytes = last === 0xbc ? 1 : 2;
  const named = hashNames.find((name) => challengeHashes[name].trailer === message[message.length - 2]);
  const hashName = last === 0xbc ? "SHA-1" : named;
  if (hashName === undefined) return null;
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
  const hash = challengeHashes[hashName].digest;
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
  const named = ecdsaHash(input.signatureAlgorithm);
  const hashes = named === null ? ecdsaHashesToTry : [named];
  for (const { r, s, encoding } of ecdsaReadings(input.signature, n)) {
    if (r <= 0n || r >= n || s <= 0n || s >= n) continue;
    const inverse = modInverse(s, n);
    for (const hash of hashes) {
      const digest = leftmostBits(challengeHashes[hash].digest(input.challenge), bitLength(n));
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
