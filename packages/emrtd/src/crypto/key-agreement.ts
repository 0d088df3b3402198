import { bigIntBetween, bytesToBigInt, concat, fromHex, uintBytes } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { type CalculableCurve, type CurvePoints, standardizedCurveOfId } from "./curve-points.ts";
import { knownSafePrimes } from "./known-primes.ts";
import { bitLength, isProbablePrime, modInverse, modPow } from "./prime.ts";
import type { RandomSource } from "./random.ts";

/**
 * A group for key agreement. Elements are bytes in the chip's form, and foreign elements are checked before
 * any private number is used with them.
 */
export type KeyAgreementDomain = {
  readonly kind: "ECDH" | "DH";
  readonly name: string;
  readonly generator: Uint8Array;
  /** The tag of a public key inside a "public key data object" (ICAO Doc 9303-11, section 9.4.4). */
  readonly publicKeyTag: number;
  readonly bits: number;
  withGenerator(generator: Uint8Array): KeyAgreementDomain;
  randomPrivateKey(random: RandomSource): bigint;
  publicKey(privateKey: bigint): Uint8Array;
  /** Throws CRYPTO_INVALID unless the element is a usable public key of this domain. */
  checkPublicKey(publicKey: Uint8Array): void;
  /** The whole shared element, which generic mapping needs. */
  sharedElement(privateKey: bigint, publicKey: Uint8Array): Uint8Array;
  /** The secret that keys are derived from: the x coordinate, or the number itself. */
  sharedSecret(privateKey: bigint, publicKey: Uint8Array): Uint8Array;
  /** nonce · G + shared, or G^nonce · shared. */
  mapGeneric(nonce: Uint8Array, sharedElement: Uint8Array): Uint8Array;
  /** Maps a pseudo-random number to an element (ICAO Doc 9303-11, section 4.4.3.3.2). */
  mapIntegrated(pseudoRandom: Uint8Array): Uint8Array;
  /** value · element, for the chip authentication mapping. */
  scale(element: Uint8Array, scalar: bigint): Uint8Array;
  /** numerator / denominator in the field of private keys. */
  divideScalars(numerator: bigint, denominator: bigint): bigint;
};

function randomScalar(random: RandomSource, order: bigint): bigint {
  // Eight bytes more than the order has make the remainder uniform for every purpose.
  const bytes = random(Math.ceil(bitLength(order) / 8) + 8);
  return (bytesToBigInt(bytes) % (order - 1n)) + 1n;
}

/** One for each curve: a document is judged in less time than it takes to make one. */
const ecDomains = new WeakMap<CalculableCurve, KeyAgreementDomain>();

export function ecDomain(curve: CalculableCurve): KeyAgreementDomain {
  const known = ecDomains.get(curve);
  if (known !== undefined) return known;
  const made = ecDomainWith(curve, null);
  ecDomains.set(curve, made);
  return made;
}

function ecDomainWith(curve: CalculableCurve, generator: Uint8Array | null): KeyAgreementDomain {
  const { points } = curve;
  const { p, a, b, n, h } = points.CURVE();
  const fieldBytes = points.Fp.BYTES;
  const encode = (point: InstanceType<CurvePoints>): Uint8Array => {
    if (point.is0()) throw new EmrtdError("CRYPTO_INVALID", "The result is the point at infinity");
    const { x, y } = point.toAffine();
    return concat(Uint8Array.of(4), uintBytes(x, fieldBytes), uintBytes(y, fieldBytes));
  };
  const decode = (bytes: Uint8Array): InstanceType<CurvePoints> => decodePoint(points, bytes);
  const base = generator === null ? points.BASE : decode(generator);
  const multiply = (point: InstanceType<CurvePoints>, scalar: bigint) => {
    const reduced = ((scalar % n) + n) % n;
    if (reduced === 0n) throw new EmrtdError("CRYPTO_INVALID", "A scalar is zero");
    return point.multiply(reduced);
  };
  return {
    kind: "ECDH",
    name: curve.name,
    generator: generator ?? encode(points.BASE),
    publicKeyTag: 0x86,
    bits: bitLength(p),
    withGenerator: (other) => ecDomainWith(curve, other),
    randomPrivateKey: (random) => randomScalar(random, n),
    publicKey: (privateKey) => encode(multiply(base, privateKey)),
    checkPublicKey: (publicKey) => {
      if (h === 1n) readCoordinates(points, publicKey);
      else decode(publicKey);
    },
    sharedElement: (privateKey, publicKey) => encode(multiply(decode(publicKey), privateKey)),
    sharedSecret: (privateKey, publicKey) =>
      encode(multiply(decode(publicKey), privateKey)).subarray(1, 1 + fieldBytes),
    mapGeneric: (nonce, shared) => encode(multiply(base, bytesToBigInt(nonce)).add(decode(shared))),
    mapIntegrated: (pseudoRandom) => {
      if (p % 4n !== 3n || a === 0n || b === 0n) {
        throw new EmrtdError("PROTOCOL_UNSUPPORTED", "Integrated mapping is not defined on this curve");
      }
      const { x, y } = encodeToCurve(bytesToBigInt(pseudoRandom) % p, p, a, b);
      return concat(Uint8Array.of(4), uintBytes(x, fieldBytes), uintBytes(y, fieldBytes));
    },
    scale: (element, scalar) => encode(multiply(decode(element), scalar)),
    divideScalars: (numerator, denominator) => (numerator * modInverse(denominator, n)) % n,
  };
}

/** Uncompressed points only, as Doc 9303 asks; on the curve, not at infinity, and in the subgroup. */
export function decodePoint(points: CurvePoints, bytes: Uint8Array): InstanceType<CurvePoints> {
  const { n, h } = points.CURVE();
  const point = points.fromAffine(readCoordinates(points, bytes));
  if (
    h !== 1n &&
    !point
      .multiplyUnsafe(n - 1n)
      .add(point)
      .is0()
  ) {
    throw new EmrtdError("CRYPTO_INVALID", "The point is not in the subgroup");
  }
  return point;
}

/** The coordinates of an uncompressed point that is on the curve. */
function readCoordinates(points: CurvePoints, bytes: Uint8Array): { readonly x: bigint; readonly y: bigint } {
  const { p, a, b } = points.CURVE();
  const fieldBytes = points.Fp.BYTES;
  if (bytes.length !== 1 + 2 * fieldBytes || bytes[0] !== 4) {
    throw new EmrtdError("CRYPTO_INVALID", "A point must be uncompressed and as long as the curve says");
  }
  const x = bigIntBetween(bytes, 1, 1 + fieldBytes);
  const y = bigIntBetween(bytes, 1 + fieldBytes, bytes.length);
  if (x >= p || y >= p || (y * y - ((x * x + a) * x + b)) % p !== 0n) {
    throw new EmrtdError("CRYPTO_INVALID", "The point is not on the curve");
  }
  return { x, y };
}

/** Point encoding of ICAO Doc 9303-11, appendix B.2, for fields whose prime is 3 modulo 4. */
function encodeToCurve(t: bigint, p: bigint, a: bigint, b: bigint): { x: bigint; y: bigint } {
  const reduce = (value: bigint) => ((value % p) + p) % p;
  const alpha = reduce(-t * t);
  const denominator = reduce(alpha + alpha * alpha);
  if (denominator === 0n) throw new EmrtdError("CRYPTO_INVALID", "The pseudo-random number cannot be mapped");
  const x2 = reduce(-b * modInverse(a, p) * (1n + modInverse(denominator, p)));
  const x3 = reduce(alpha * x2);
  const h2 = reduce(x2 * x2 * x2 + a * x2 + b);
  const u = reduce(t * t * t * h2);
  const root = modPow(h2, p - 1n - (p + 1n) / 4n, p);
  if (reduce(root * root * h2) === 1n) return { x: x2, y: reduce(root * h2) };
  return { x: x3, y: reduce(root * u) };
}

export type DhParameters = {
  readonly p: bigint;
  readonly g: bigint;
  /** Order of the subgroup; some documents leave it out. */
  readonly q: bigint | null;
};

const minDhBits = 1024;
const maxDhBits = 4096;

function dhDomain(name: string, parameters: DhParameters): KeyAgreementDomain {
  const { p, g, q } = parameters;
  const numberBytes = Math.ceil(bitLength(p) / 8);
  const encode = (value: bigint): Uint8Array => {
    if (value <= 1n || value >= p - 1n) {
      throw new EmrtdError("CRYPTO_INVALID", "The result is not a usable element of the group");
    }
    return uintBytes(value, numberBytes);
  };
  const decode = (bytes: Uint8Array): bigint => {
    // Chips leave out leading zeros or add one; the number is what counts.
    if (bytes.length > numberBytes + 1) throw new EmrtdError("CRYPTO_INVALID", "A public key is too long");
    const value = bytesToBigInt(bytes);
    if (value <= 1n || value >= p - 1n)
      throw new EmrtdError("CRYPTO_INVALID", "A public key is out of range");
    if (q !== null && modPow(value, q, p) !== 1n) {
      throw new EmrtdError("CRYPTO_INVALID", "A public key is not in the subgroup");
    }
    return value;
  };
  // Without the order, a private number of 512 bits is secure and keeps the arithmetic fast.
  const order = q ?? 1n << 512n;
  return {
    kind: "DH",
    name,
    generator: uintBytes(g, numberBytes),
    publicKeyTag: 0x84,
    bits: bitLength(p),
    withGenerator: (generator) => dhDomain(name, { p, g: decode(generator), q }),
    randomPrivateKey: (random) => randomScalar(random, order),
    publicKey: (privateKey) => encode(modPow(g, privateKey, p)),
    checkPublicKey: (publicKey) => {
      decode(publicKey);
    },
    sharedElement: (privateKey, publicKey) => encode(modPow(decode(publicKey), privateKey, p)),
    sharedSecret: (privateKey, publicKey) => encode(modPow(decode(publicKey), privateKey, p)),
    mapGeneric: (nonce, shared) => encode((modPow(g, bytesToBigInt(nonce), p) * decode(shared)) % p),
    mapIntegrated: (pseudoRandom) => {
      if (q === null) {
        throw new EmrtdError("PROTOCOL_UNSUPPORTED", "Integrated mapping needs the order of the subgroup");
      }
      return encode(modPow(bytesToBigInt(pseudoRandom) % p, (p - 1n) / q, p));
    },
    scale: (element, scalar) => encode(modPow(decode(element), scalar, p)),
    divideScalars: (numerator, denominator) => (numerator * modInverse(denominator, order)) % order,
  };
}

/** Explicit parameters of unknown origin: the same trust question as with explicit curves. */
export function checkedDhDomain(parameters: DhParameters): KeyAgreementDomain {
  const { p, g, q } = parameters;
  for (const known of rfc5114Groups) {
    if (known.parameters.p === p && known.parameters.g === g) return dhDomain(known.name, known.parameters);
  }
  const bits = bitLength(p);
  if (bits < minDhBits || bits > maxDhBits)
    throw new EmrtdError("CRYPTO_INVALID", "The modulus of the group is unsuitable");
  if (g <= 1n || g >= p - 1n)
    throw new EmrtdError("CRYPTO_INVALID", "The generator of the group is unsuitable");
  if (q !== null && (bitLength(q) < 160 || (p - 1n) % q !== 0n))
    throw new EmrtdError("CRYPTO_INVALID", "The order of the group is unsuitable");
  const safePrime = knownSafePrimes().get(p);
  if (safePrime !== undefined && g === 2n && (q === null || q === (p - 1n) / 2n))
    return dhDomain(safePrime, parameters);
  const flaw = rememberedFlaw(parameters);
  if (flaw !== null) throw new EmrtdError("CRYPTO_INVALID", flaw);
  return dhDomain("explicit", parameters);
}

/** The flaw of a group, by checks that take time; null if it is usable. */
function flawOf({ p, g, q }: DhParameters): string | null {
  if (!knownSafePrimes().has(p) && !isProbablePrime(p)) return "The modulus of the group is unsuitable";
  if (q === null || (modPow(g, q, p) === 1n && isProbablePrime(q))) return null;
  return "The order of the group is unsuitable";
}

/** Fewer entries: issuers with custom groups evict each other. 64 entries take at most 100 kB. */
const rememberedGroups = 64;
const verdicts = new Map<string, string | null>();

/**
 * A proof uses its group several times, and an issuer's documents share one.
 * The oldest entry is evicted first.
 */
function rememberedFlaw(parameters: DhParameters): string | null {
  const key = [parameters.p, parameters.g, parameters.q ?? 0n].map((number) => number.toString(16)).join(" ");
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const flaw = flawOf(parameters);
  const [oldest] = verdicts.keys();
  if (verdicts.size >= rememberedGroups && oldest !== undefined) verdicts.delete(oldest);
  verdicts.set(key, flaw);
  return flaw;
}

const big = (hex: string): bigint => bytesToBigInt(fromHex(hex));

/** RFC 5114, sections 2.1 to 2.3: standardized domain parameters 0 to 2. */
export const rfc5114Groups: readonly { readonly name: string; readonly parameters: DhParameters }[] = [
  {
    name: "RFC 5114 1024/160",
    parameters: {
      p: big(`
        b10b8f96a080e01dde92de5eae5d54ec52c99fbcfb06a3c69a6a9dca52d23b616073e28675a23d189838ef1e2ee652c0
        13ecb4aea906112324975c3cd49b83bfaccbdd7d90c4bd7098488e9c219a73724effd6fae5644738faa31a4ff55bccc0
        a151af5f0dc8b4bd45bf37df365c1a65e68cfda76d4da708df1fb2bc2e4a4371
      `),
      g: big(`
        a4d1cbd5c3fd34126765a442efb99905f8104dd258ac507fd6406cff14266d31266fea1e5c41564b777e690f5504f213
        160217b4b01b886a5e91547f9e2749f4d7fbd7d3b9a92ee1909d0d2263f80a76a6a24c087a091f531dbf0a0169b6a28a
        d662a4d18e73afa32d779d5918d08bc8858f4dcef97c2a24855e6eeb22b3b2e5
      `),
      q: big("f518aa8781a8df278aba4e7d64b7cb9d49462353"),
    },
  },
  {
    name: "RFC 5114 2048/224",
    parameters: {
      p: big(`
        ad107e1e9123a9d0d660faa79559c51fa20d64e5683b9fd1b54b1597b61d0a75e6fa141df95a56dbaf9a3c407ba1df15
        eb3d688a309c180e1de6b85a1274a0a66d3f8152ad6ac2129037c9edefda4df8d91e8fef55b7394b7ad5b7d0b6c12207
        c9f98d11ed34dbf6c6ba0b2c8bbc27be6a00e0a0b9c49708b3bf8a317091883681286130bc8985db1602e714415d9330
        278273c7de31efdc7310f7121fd5a07415987d9adc0a486dcdf93acc44328387315d75e198c641a480cd86a1b9e587e8
        be60e69cc928b2b9c52172e413042e9b23f10b0e16e79763c9b53dcf4ba80a29e3fb73c16b8e75b97ef363e2ffa31f71
        cf9de5384e71b81c0ac4dffe0c10e64f
      `),
      g: big(`
        ac4032ef4f2d9ae39df30b5c8ffdac506cdebe7b89998caf74866a08cfe4ffe3a6824a4e10b9a6f0dd921f01a70c4afa
        ab739d7700c29f52c57db17c620a8652be5e9001a8d66ad7c17669101999024af4d027275ac1348bb8a762d0521bc98a
        e247150422ea1ed409939d54da7460cdb5f6c6b250717cbef180eb34118e98d119529a45d6f834566e3025e316a330ef
        bb77a86f0c1ab15b051ae3d428c8f8acb70a8137150b8eeb10e183edd19963ddd9e263e4770589ef6aa21e7f5f2ff381
        b539cce3409d13cd566afbb48d6c019181e1bcfe94b30269edfe72fe9b6aa4bd7b5a0f1c71cfff4c19c418e1f6ec0179
        81bc087f2a7065b384b890d3191f2bfa
      `),
      q: big("801c0d34c58d93fe997177101f80535a4738cebcbf389a99b36371eb"),
    },
  },
  {
    name: "RFC 5114 2048/256",
    parameters: {
      p: big(`
        87a8e61db4b6663cffbbd19c651959998ceef608660dd0f25d2ceed4435e3b00e00df8f1d61957d4faf7df4561b2aa30
        16c3d91134096faa3bf4296d830e9a7c209e0c6497517abd5a8a9d306bcf67ed91f9e6725b4758c022e0b1ef4275bf7b
        6c5bfc11d45f9088b941f54eb1e59bb8bc39a0bf12307f5c4fdb70c581b23f76b63acae1caa6b7902d52526735488a0e
        f13c6d9a51bfa4ab3ad8347796524d8ef6a167b5a41825d967e144e5140564251ccacb83e6b486f6b3ca3f7971506026
        c0b857f689962856ded4010abd0be621c3a3960a54e710c375f26375d7014103a4b54330c198af126116d2276e11715f
        693877fad7ef09cadb094ae91e1a1597
      `),
      g: big(`
        3fb32c9b73134d0b2e77506660edbd484ca7b18f21ef205407f4793a1a0ba12510dbc15077be463fff4fed4aac0bb555
        be3a6c1b0c6b47b1bc3773bf7e8c6f62901228f8c28cbb18a55ae31341000a650196f931c77a57f2ddf463e5e9ec144b
        777de62aaab8a8628ac376d282d6ed3864e67982428ebc831d14348f6f2f9193b5045af2767164e1dfc967c1fb3f2e55
        a4bd1bffe83b9c80d052b985d182ea0adb2a3b7313d3fe14c8484b1e052588b9b7d2bbd2df016199ecd06e1557cd0915
        b3353bbb64e0ec377fd028370df92b52c7891428cdc67eb6184b523d1db246c32f63078490f00ef8d647d148d4795451
        5e2327cfef98c582664b4c0f6cc41659
      `),
      q: big("8cf83642a709a097b447997640129da299b1a47d1eb3750ba308b0fe64f5fbd3"),
    },
  },
];

/** ICAO Doc 9303-11, section 9.5.1. */
export function standardizedDomain(id: number): KeyAgreementDomain {
  const group = rfc5114Groups[id];
  if (group !== undefined) return dhDomain(group.name, group.parameters);
  const curve = standardizedCurveOfId(id);
  if (curve !== null) return ecDomain(curve);
  throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The standardized domain parameters are unknown");
}
