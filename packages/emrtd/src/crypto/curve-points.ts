import {
  type WeierstrassOpts,
  type WeierstrassPointCons,
  weierstrass,
} from "@noble/curves/abstract/weierstrass.js";
import { brainpoolP256r1, brainpoolP384r1, brainpoolP512r1 } from "@noble/curves/misc.js";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { EmrtdError } from "../emrtd-error.ts";
import { isProbablePrime } from "./prime.ts";

export type CurveParameters = WeierstrassOpts<bigint>;
export type CurvePoints = WeierstrassPointCons<bigint>;

export interface NamedCurve {
  readonly name: string;
  /** The names that certificates and DG14 use. */
  readonly oid: string;
  /** Of the table of standardized domain parameters in ICAO Doc 9303-11, section 9.5.1. */
  readonly standardizedId: number | undefined;
  readonly points: CurvePoints;
}

function curve(p: string, a: string, b: string, gx: string, gy: string, n: string): CurvePoints {
  const big = (hex: string) => BigInt(`0x${hex}`);
  return weierstrass({ p: big(p), a: big(a), b: big(b), Gx: big(gx), Gy: big(gy), n: big(n), h: 1n });
}

export const NAMED_CURVES: readonly NamedCurve[] = [
  {
    name: "P-192",
    oid: "1.2.840.10045.3.1.1",
    standardizedId: 8,
    points: curve(
      "fffffffffffffffffffffffffffffffeffffffffffffffff",
      "fffffffffffffffffffffffffffffffefffffffffffffffc",
      "64210519e59c80e70fa7e9ab72243049feb8deecc146b9b1",
      "188da80eb03090f67cbf20eb43a18800f4ff0afd82ff1012",
      "07192b95ffc8da78631011ed6b24cdd573f977a11e794811",
      "ffffffffffffffffffffffff99def836146bc9b1b4d22831",
    ),
  },
  {
    name: "brainpoolP192r1",
    oid: "1.3.36.3.3.2.8.1.1.3",
    standardizedId: 9,
    points: curve(
      "c302f41d932a36cda7a3463093d18db78fce476de1a86297",
      "6a91174076b1e0e19c39c031fe8685c1cae040e5c69a28ef",
      "469a28ef7c28cca3dc721d044f4496bcca7ef4146fbf25c9",
      "c0a0647eaab6a48753b033c56cb0f0900a2f5c4853375fd6",
      "14b690866abd5bb88b5f4828c1490002e6773fa2fa299b8f",
      "c302f41d932a36cda7a3462f9e9e916b5be8f1029ac4acc1",
    ),
  },
  {
    name: "P-224",
    oid: "1.3.132.0.33",
    standardizedId: 10,
    points: curve(
      "ffffffffffffffffffffffffffffffff000000000000000000000001",
      "fffffffffffffffffffffffffffffffefffffffffffffffffffffffe",
      "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
      "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
      "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
      "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
    ),
  },
  {
    name: "brainpoolP224r1",
    oid: "1.3.36.3.3.2.8.1.1.5",
    standardizedId: 11,
    points: curve(
      "d7c134aa264366862a18302575d1d787b09f075797da89f57ec8c0ff",
      "68a5e62ca9ce6c1c299803a6c1530b514e182ad8b0042a59cad29f43",
      "2580f63ccfe44138870713b1a92369e33e2135d266dbb372386c400b",
      "0d9029ad2c7e5cf4340823b2a87dc68c9e4ce3174c1e6efdee12c07d",
      "58aa56f772c0726f24c6b89e4ecdac24354b9e99caa3f6d3761402cd",
      "d7c134aa264366862a18302575d0fb98d116bc4b6ddebca3a5a7939f",
    ),
  },
  { name: "P-256", oid: "1.2.840.10045.3.1.7", standardizedId: 12, points: p256.Point },
  { name: "brainpoolP256r1", oid: "1.3.36.3.3.2.8.1.1.7", standardizedId: 13, points: brainpoolP256r1.Point },
  {
    name: "brainpoolP320r1",
    oid: "1.3.36.3.3.2.8.1.1.9",
    standardizedId: 14,
    points: curve(
      "d35e472036bc4fb7e13c785ed201e065f98fcfa6f6f40def4f92b9ec7893ec28fcd412b1f1b32e27",
      "3ee30b568fbab0f883ccebd46d3f3bb8a2a73513f5eb79da66190eb085ffa9f492f375a97d860eb4",
      "520883949dfdbc42d3ad198640688a6fe13f41349554b49acc31dccd884539816f5eb4ac8fb1f1a6",
      "43bd7e9afb53d8b85289bcc48ee5bfe6f20137d10a087eb6e7871e2a10a599c710af8d0d39e20611",
      "14fdd05545ec1cc8ab4093247f77275e0743ffed117182eaa9c77877aaac6ac7d35245d1692e8ee1",
      "d35e472036bc4fb7e13c785ed201e065f98fcfa5b68f12a32d482ec7ee8658e98691555b44c59311",
    ),
  },
  { name: "P-384", oid: "1.3.132.0.34", standardizedId: 15, points: p384.Point },
  {
    name: "brainpoolP384r1",
    oid: "1.3.36.3.3.2.8.1.1.11",
    standardizedId: 16,
    points: brainpoolP384r1.Point,
  },
  {
    name: "brainpoolP512r1",
    oid: "1.3.36.3.3.2.8.1.1.13",
    standardizedId: 17,
    points: brainpoolP512r1.Point,
  },
  { name: "P-521", oid: "1.3.132.0.35", standardizedId: 18, points: p521.Point },
];

const MIN_FIELD_BITS = 160;
const MAX_FIELD_BITS = 521;

/**
 * Explicit parameters. Those of a curve we know give that curve. Any other curve is checked as SEC 1, section
 * 3.1.1.2.1 asks, because a weak curve would make key agreement worthless without looking wrong.
 */
export function curveFromParameters(parameters: CurveParameters): NamedCurve {
  for (const known of NAMED_CURVES) {
    if (sameCurve(known.points.CURVE(), parameters)) return known;
  }
  return { name: "explicit", oid: "", standardizedId: undefined, points: checkedCurve(parameters) };
}

function sameCurve(a: CurveParameters, b: CurveParameters): boolean {
  return (
    a.p === b.p && a.a === b.a && a.b === b.b && a.Gx === b.Gx && a.Gy === b.Gy && a.n === b.n && a.h === b.h
  );
}

function checkedCurve(parameters: CurveParameters): CurvePoints {
  const { p, a, b, Gx, Gy, n, h } = parameters;
  const refuse = (rule: string): never => {
    throw new EmrtdError("CRYPTO_INVALID", `The explicit curve parameters are refused: ${rule}`);
  };
  const bits = p.toString(2).length;
  if (bits < MIN_FIELD_BITS || bits > MAX_FIELD_BITS) refuse("the field has an unsuitable size");
  if ([a, b, Gx, Gy].some((value) => value < 0n || value >= p))
    refuse("a coefficient lies outside of the field");
  if (h !== 1n) refuse("the cofactor is not one");
  if (n === p || n.toString(2).length < MIN_FIELD_BITS) refuse("the order is unsuitable");
  // Hasse: with cofactor one the order is the number of points, which differs from p + 1 by at most 2·sqrt(p).
  const trace = p + 1n - n;
  if (trace * trace > 4n * p) refuse("the order is impossible for this field");
  if ((4n * a * a * a + 27n * b * b) % p === 0n) refuse("the curve is singular");
  if ((Gy * Gy - (Gx * Gx * Gx + a * Gx + b)) % p !== 0n) refuse("the generator is not on the curve");
  if (!isProbablePrime(p) || !isProbablePrime(n)) refuse("a modulus is not prime");
  // Embedding degree: a small one would carry the logarithm over to a field where it is easy.
  let power = 1n;
  for (let degree = 1; degree <= 20; degree++) {
    power = (power * p) % n;
    if (power === 1n) refuse("the embedding degree is small");
  }
  const points = weierstrass({ p, a, b, Gx, Gy, n, h });
  if (!points.BASE.multiplyUnsafe(n - 1n).equals(points.BASE.negate()))
    refuse("the order is not that of the generator");
  return points;
}
