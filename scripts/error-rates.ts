import { matchPortrait } from "@assay/face/match";
import { distanceOf } from "@assay/face/measurement";

/** A share of errors with its 95 % confidence interval, if the cases are independent. */
export type ErrorRate = {
  readonly errors: number;
  readonly of: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
};

/** Standard deviations on either side that hold 95 % of a normal distribution. */
const deviations = 1.96;

/** The Wilson interval, which is meaningful also without errors; null without cases. */
export function rateOf(errors: number, of: number): ErrorRate | null {
  if (of === 0) return null;
  const share = errors / of;
  const squared = deviations ** 2;
  const middle = (share + squared / (2 * of)) / (1 + squared / of);
  const reach =
    (deviations / (1 + squared / of)) * Math.sqrt((share * (1 - share)) / of + squared / (4 * of ** 2));
  const bounded = (value: number) => Math.min(Math.max(value, 0), 1);
  return { errors, of, share, low: bounded(middle - reach), high: bounded(middle + reach) };
}

/**
 * Distances of all pairs of pictures, ascending:
 * of one person (mated, "genuine") and of two (non-mated, "impostor").
 */
export type PairDistances = { readonly genuine: readonly number[]; readonly impostor: readonly number[] };

/** `people`: the embeddings of each one's pictures. */
export function pairDistances(people: readonly (readonly (readonly number[])[])[]): PairDistances {
  const pictures = people.flatMap((embeddings, person) =>
    embeddings.map((embedding) => ({ person, embedding })),
  );
  const genuine: number[] = [];
  const impostor: number[] = [];
  for (const [index, one] of pictures.entries())
    for (const other of pictures.slice(index + 1))
      (one.person === other.person ? genuine : impostor).push(distanceOf(one.embedding, other.embedding));
  const ascending = (a: number, b: number) => a - b;
  return { genuine: genuine.sort(ascending), impostor: impostor.sort(ascending) };
}

/** A try compares the portrait with at most this many straight frames and takes the median distance. */
const framesOfTry = 4;

/**
 * The same for whole tries: each picture as the portrait, against every four others of one person. People
 * with fewer than five pictures have no genuine tries.
 */
export function tryDistances(people: readonly (readonly (readonly number[])[])[]): PairDistances {
  const genuine: number[] = [];
  const impostor: number[] = [];
  for (const [person, portraits] of people.entries())
    for (const portrait of portraits)
      for (const [other, pictures] of people.entries()) {
        const filmed = pictures.filter((picture) => picture !== portrait);
        for (let from = 0; from + framesOfTry <= filmed.length; from += framesOfTry) {
          const { distance } = matchPortrait(portrait, filmed.slice(from, from + framesOfTry));
          (person === other ? genuine : impostor).push(distance);
        }
      }
  const ascending = (a: number, b: number) => a - b;
  return { genuine: genuine.sort(ascending), impostor: impostor.sort(ascending) };
}

const upTo = (distances: readonly number[], threshold: number) =>
  distances.filter((distance) => distance <= threshold).length;

/** The two errors of ISO/IEC 19795 at a threshold: false matches (FMR) and false non-matches (FNMR). */
export function errorsAt(
  { genuine, impostor }: PairDistances,
  threshold: number,
): { readonly falseMatch: ErrorRate | null; readonly falseNonMatch: ErrorRate | null } {
  return {
    falseMatch: rateOf(upTo(impostor, threshold), impostor.length),
    falseNonMatch: rateOf(genuine.length - upTo(genuine, threshold), genuine.length),
  };
}

/**
 * The largest threshold, in hundredths, whose FMR is at most this at
 * the upper end of its interval; null if there are too few pairs.
 */
export function thresholdFor(distances: PairDistances, maxFalseMatch: number): number | null {
  for (let hundredths = 100; hundredths > 0; hundredths--) {
    const { falseMatch } = errorsAt(distances, hundredths / 100);
    if (falseMatch !== null && falseMatch.high <= maxFalseMatch) return hundredths / 100;
  }
  return null;
}

/** Error-free pairs needed to show that a rate is at most this. */
export function pairsNeededFor(rate: number): number {
  return Math.ceil((deviations ** 2 * (1 - rate)) / rate);
}
