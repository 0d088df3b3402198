import {
  type WeierstrassOpts,
  type WeierstrassPointCons,
  weierstrass,
} from "@noble/curves/abstract/weierstrass.js";
import { EmrtdError } from "../emrtd-error.ts";
import { type Curve, type CurveName, curveOfOid, curveOfParameters, curves } from "./curves.ts";
import { isProbablePrime } from "./prime.ts";

export type CurvePoints = WeierstrassPointCons<bigint>;

/** A curve that can be calculated on: a known one, or one whose parameters a key brought along. */
export type CalculableCurve = {
  readonly name: CurveName | "explicit";
  readonly points: CurvePoints;
};

/** Curves on which chips agree on keys and sign. */
export const standardizedCurves: readonly Curve[] = curves.filter(
  ({ standardizedId }) => standardizedId !== null,
);

const calculable = new Map<CurveName, CalculableCurve>();

/** Created on first use: a process meets few of the curves. */
export function calculableCurve({ name, p, a, b, gx, gy, n }: Curve): CalculableCurve {
  const known = calculable.get(name);
  if (known !== undefined) return known;
  const made = { name, points: weierstrass({ p, a, b, Gx: gx, Gy: gy, n, h: 1n }) };
  calculable.set(name, made);
  return made;
}

export function standardizedCurveOfOid(oid: string): CalculableCurve | null {
  const curve = curveOfOid(oid);
  return curve === null || curve.standardizedId === null ? null : calculableCurve(curve);
}

export function standardizedCurveOfId(id: number): CalculableCurve | null {
  const curve = standardizedCurves.find(({ standardizedId }) => standardizedId === id);
  return curve === undefined ? null : calculableCurve(curve);
}

const minFieldBits = 160;
const maxFieldBits = 521;

/**
 * Explicit parameters. Those of a standardized curve give that curve. Any other curve is checked as in SEC 1,
 * section 3.1.1.2.1, because a weak curve would silently break key agreement.
 */
export function curveFromParameters(parameters: WeierstrassOpts<bigint>): CalculableCurve {
  const { Gx: gx, Gy, h } = parameters;
  const known = h === 1n ? curveOfParameters({ ...parameters, gx }, (y) => y === Gy) : null;
  if (known !== null && known.standardizedId !== null) return calculableCurve(known);
  return { name: "explicit", points: checkedCurve(parameters) };
}

function checkedCurve(parameters: WeierstrassOpts<bigint>): CurvePoints {
  const { p, a, b, Gx, Gy, n, h } = parameters;
  const refuse = (rule: string): never => {
    throw new EmrtdError("CRYPTO_INVALID", `The explicit curve parameters are refused: ${rule}`);
  };
  const bits = p.toString(2).length;
  if (bits < minFieldBits || bits > maxFieldBits) refuse("the field has an unsuitable size");
  if ([a, b, Gx, Gy].some((value) => value < 0n || value >= p))
    refuse("a coefficient lies outside of the field");
  if (h !== 1n) refuse("the cofactor is not one");
  if (n === p || n.toString(2).length < minFieldBits) refuse("the order is unsuitable");
  // Hasse: with cofactor one the order is the number of points,
  // which differs from p + 1 by at most 2·sqrt(p).
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
