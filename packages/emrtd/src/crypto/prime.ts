/** Modular exponentiation for public values and for the software chip; it does not hide the exponent's timing. */
export function modPow(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = ((base % modulus) + modulus) % modulus;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result % modulus;
}

export function modInverse(value: bigint, modulus: bigint): bigint {
  let [previous, current] = [modulus, ((value % modulus) + modulus) % modulus];
  let [previousFactor, factor] = [0n, 1n];
  while (current !== 0n) {
    const quotient = previous / current;
    [previous, current] = [current, previous - quotient * current];
    [previousFactor, factor] = [factor, previousFactor - quotient * factor];
  }
  return ((previousFactor % modulus) + modulus) % modulus;
}

export function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

const smallPrimes = [
  2n,
  3n,
  5n,
  7n,
  11n,
  13n,
  17n,
  19n,
  23n,
  29n,
  31n,
  37n,
  41n,
  43n,
  47n,
  53n,
  59n,
  61n,
  67n,
  71n,
  73n,
  79n,
  83n,
  89n,
  97n,
  101n,
  103n,
  107n,
  109n,
  113n,
] as const;

/** Miller-Rabin with fixed bases: parameters come from signed files, and honest ones are always accepted. */
export function isProbablePrime(candidate: bigint): boolean {
  if (candidate < 2n) return false;
  for (const prime of smallPrimes) {
    if (candidate === prime) return true;
    if (candidate % prime === 0n) return false;
  }
  let odd = candidate - 1n;
  let twos = 0;
  while ((odd & 1n) === 0n) {
    odd >>= 1n;
    twos++;
  }
  // A random composite of this size passes one round with a chance far below 2^-40.
  const bases = bitLength(candidate) < 1024 ? smallPrimes : smallPrimes.slice(0, 6);
  for (const base of bases) {
    let value = modPow(base, odd, candidate);
    if (value === 1n || value === candidate - 1n) continue;
    let composite = true;
    for (let count = 1; count < twos && composite; count++) {
      value = (value * value) % candidate;
      if (value === candidate - 1n) composite = false;
    }
    if (composite) return false;
  }
  return true;
}
