import { challengeHashes } from "../active-authentication/verify-active-authentication.ts";
import { sequence, unsignedInteger } from "../ber/write.ts";
import { bigIntToBytes, bytesToBigInt, concat, uintBytes } from "../bytes.ts";
import { bitLength, modInverse, modPow } from "../crypto/prime.ts";
import type { RandomSource } from "../crypto/random.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { ChipPrivateKey } from "./private-key.ts";

export type ChallengeSigningOptions = {
  /** SHA-1 with RSA and SHA-256 with ECDSA unless given. */
  readonly hash?: keyof typeof challengeHashes;
  /** For ECDSA; the standard wants plain, several states send DER. */
  readonly encoding?: "plain" | "der";
  /** For RSA with SHA-1: the one-byte trailer BC unless this asks for 33CC. */
  readonly explicitTrailer?: boolean;
};

/** The chip's half of active authentication. */
export function signChallenge(
  key: ChipPrivateKey,
  challenge: Uint8Array,
  random: RandomSource,
  options: ChallengeSigningOptions = {},
): Uint8Array {
  if (key.kind === "RSA") return signRsa(key, challenge, random, options);
  if (key.kind === "EC") return signEcdsa(key, challenge, random, options);
  throw new EmrtdError("ALGORITHM_UNSUPPORTED", "A DH key cannot sign");
}

function signRsa(
  key: Extract<ChipPrivateKey, { kind: "RSA" }>,
  challenge: Uint8Array,
  random: RandomSource,
  options: ChallengeSigningOptions,
): Uint8Array {
  const name = options.hash ?? "SHA-1";
  const { digest, trailer } = challengeHashes[name];
  const shortTrailer = name === "SHA-1" && options.explicitTrailer !== true;
  const trailerBytes = shortTrailer ? Uint8Array.of(0xbc) : Uint8Array.of(trailer, 0xcc);
  const modulusBytes = Math.ceil(bitLength(key.modulus) / 8);
  const recoverable = random(modulusBytes - 1 - digest(challenge).length - trailerBytes.length);
  const representative = concat(
    Uint8Array.of(0x6a),
    recoverable,
    digest(concat(recoverable, challenge)),
    trailerBytes,
  );
  const signature = modPow(bytesToBigInt(representative), key.privateExponent, key.modulus);
  return uintBytes(signature, modulusBytes);
}

function signEcdsa(
  key: Extract<ChipPrivateKey, { kind: "EC" }>,
  challenge: Uint8Array,
  random: RandomSource,
  options: ChallengeSigningOptions,
): Uint8Array {
  const { n } = key.curve.points.CURVE();
  const scalarBytes = Math.ceil(bitLength(n) / 8);
  const digest = challengeHashes[options.hash ?? "SHA-256"].digest(challenge);
  const excessBits = Math.max(0, digest.length * 8 - bitLength(n));
  const value = bytesToBigInt(digest) >> BigInt(excessBits);
  for (let attempt = 0; attempt < 16; attempt++) {
    const secret = key.domain.randomPrivateKey(random);
    const r = key.curve.points.BASE.multiply(secret).toAffine().x % n;
    const s = (modInverse(secret, n) * (value + r * key.scalar)) % n;
    if (r === 0n || s === 0n) continue;
    return options.encoding === "der"
      ? sequence(unsignedInteger(bigIntToBytes(r)), unsignedInteger(bigIntToBytes(s)))
      : concat(uintBytes(r, scalarBytes), uintBytes(s, scalarBytes));
  }
  throw new EmrtdError("CRYPTO_INVALID", "The random source does not give usable numbers");
}
