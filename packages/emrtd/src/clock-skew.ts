/**
 * States write local time as if it were UTC and begin certificates and lists at midnight, so what comes first on paper may come
 * second by some hours. Half of it would refuse what is dated by a clock east of Greenwich; twice of it would gain nothing, and let a
 * wrong date hide for another day.
 */
export const clockSkewMilliseconds = 86_400_000;

/** Whether a time lies further ahead than clocks differ. */
export function isInFuture(time: Date, now: Date): boolean {
  return time.getTime() > now.getTime() + clockSkewMilliseconds;
}
