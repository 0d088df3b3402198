/**
 * States write local time as UTC and start certificates and lists at midnight, so the order of dates can be
 * wrong by hours. Half of this would refuse dates from clocks east of Greenwich; more would hide a wrong date
 * for longer.
 */
export const clockSkewMilliseconds = 86_400_000;

/** Whether a time is further ahead than the clock skew. */
export function isInFuture(time: Date, now: Date): boolean {
  return time.getTime() > now.getTime() + clockSkewMilliseconds;
}
