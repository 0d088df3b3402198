/**
 * The safe primes of RFC 3526 and RFC 7919 with up to 4096 bits: (p - 1) / 2 is prime too. Both are defined
 * by the digits of a constant, `2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) * constant) + addend)`, which
 * replaces 5,000 digits here.
 */
const groups = [
  { name: "RFC 3526 1536", bits: 1536n, constant: "pi", addend: 741_804n },
  { name: "RFC 3526 2048", bits: 2048n, constant: "pi", addend: 124_476n },
  { name: "RFC 3526 3072", bits: 3072n, constant: "pi", addend: 1_690_314n },
  { name: "RFC 3526 4096", bits: 4096n, constant: "pi", addend: 240_904n },
  { name: "RFC 7919 2048", bits: 2048n, constant: "e", addend: 560_316n },
  { name: "RFC 7919 3072", bits: 3072n, constant: "e", addend: 2_625_351n },
  { name: "RFC 7919 4096", bits: 4096n, constant: "e", addend: 5_736_041n },
] as const;

/** More than the longest prime uses, so that what the divisions cut off stays behind. */
const digitBits = 4096n;

let primes: ReadonlyMap<bigint, string> | undefined;

/** By prime, with the name of its group; made when first needed, in a few milliseconds. */
export function knownSafePrimes(): ReadonlyMap<bigint, string> {
  primes ??= new Map(
    groups.map(({ name, bits, constant, addend }) => {
      const digits = constantDigits[constant]() >> (digitBits - (bits - 130n));
      return [(1n << bits) - (1n << (bits - 64n)) - 1n + ((digits + addend) << 64n), name];
    }),
  );
  return primes;
}

/** Each constant times 2^digitBits. */
const constantDigits = {
  /** Machin's formula. */
  pi: () => 4n * (4n * arcTangentOfInverse(5n) - arcTangentOfInverse(239n)),
  e: () => {
    let sum = 0n;
    for (let term = 1n << digitBits, k = 1n; term > 0n; term /= k++) sum += term;
    return sum;
  },
};

function arcTangentOfInverse(x: bigint): bigint {
  let sum = 0n;
  let power = (1n << digitBits) / x;
  for (let k = 1n; power > 0n; k += 2n, power /= x * x) sum += k % 4n === 1n ? power / k : -(power / k);
  return sum;
}
