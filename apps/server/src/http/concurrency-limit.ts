/** What the process was seen to do in the last moments. */
export type Strain = {
  /** The share of the time in which the event loop had work, 0 to 1. */
  loopUtilization: number;
  /** Work that waits for a database connection. */
  poolWaiting: number;
  /** How many times as long as at best the database takes for a row by its key. */
  databaseSlowness: number;
  /** The most requests that were worked for at once. */
  placed: number;
  /** Whether anybody waited for a place. */
  someoneWaited: boolean;
};

/**
 * Never fewer: a loop that others keep from its processor looks busy however little it gets done, and statements of few requests have little to share on their way
 * (`shared-flights.ts`), so that fewer at once keep the loop just as busy with less. Twelve: eight for a caller who sends all the time. With three, half
 * as many lists are read in a second; with 24 none more, and whoever comes next waits for longer.
 */
export const leastLimit = 12;

/**
 * Above the first the event loop is busy: more requests at once would take turns on it, which makes all of them slower and none of
 * them sooner. Below the second it has time left. Lower, and requests wait while a part of the processor idles; the
 * first near 1.0, and the loop has so much to do in each turn that whoever comes next waits for the turn's end three times.
 */
const busyLoop = 0.9;
const idleLoop = 0.75;

/**
 * A row by its key takes this many times as long as at best: above the first the database is busy, below the second it has time left. Eight that travel together took
 * twice as long as one alone. Without this the limit grows while the loop waits for a database that has more to do than it can, and everybody waits for all of them.
 */
const slowDatabase = 6;
const quickDatabase = 3;

/**
 * How much one step changes. Growth is quick, so that requests that wait for something outside (a resolver, a
 * receiver) do not make others wait for longer than they may: from 13 to 200 in 13 steps. Decline is quicker, because while it lasts
 * everybody is late: from 60 to 12 in four steps. With 0.9 it takes 400 ms from the first moment of a flood, which is most of what a quiet caller notices of it.
 */
const growth = 1.25;
const decline = 0.6;

export type LimitBounds = { first: number; most: number };

/**
 * How many requests are to be worked for at once from now on. More than the event loop and the database connections can be kept
 * busy with only wait inside, where nobody can put them in order or refuse them. It is found by trying (additive or multiplicative
 * increase, multiplicative decrease), from what is directly seen to be used up.
 */
export function nextLimit(limit: number, { first, most }: LimitBounds, seen: Strain): number {
  const within = (value: number) => Math.min(most, Math.max(leastLimit, value));
  const { poolWaiting, loopUtilization, databaseSlowness } = seen;
  if (poolWaiting > 0 || loopUtilization > busyLoop || databaseSlowness > slowDatabase)
    return within(Math.floor(limit * decline));
  if (seen.someoneWaited) {
    const hasTime = loopUtilization < idleLoop && databaseSlowness < quickDatabase;
    return hasTime ? within(Math.max(limit + 1, Math.floor(limit * growth))) : limit;
  }
  if (loopUtilization >= idleLoop || limit === first) return limit;
  // A limit that nobody has come near says nothing about what can be borne; it goes back to where it began.
  if (limit < first) return within(limit + 1);
  return seen.placed < limit / 2 ? within(Math.max(first, Math.floor(limit * decline))) : limit;
}

/**
 * What to begin with: as many as let one caller, who gets two thirds of them, use every connection of the pool, but not so many
 * that they would be a queue inside of the process.
 */
export function firstLimit(poolSize: number): number {
  return Math.min(16, Math.max(leastLimit, Math.ceil((poolSize * 3) / 2)));
}
