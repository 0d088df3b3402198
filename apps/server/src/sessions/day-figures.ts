import type { FailureCode, SessionStatus } from "@assay/contract/sessions";
import { dayMs } from "../kernel/clock.ts";

/** `2026-03-01`, in UTC. */
export type Day = string;

export function dayOf(time: Date): Day {
  return time.toISOString().slice(0, 10);
}

export function startOfDay(day: Day): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

export function daysBetween(from: Day, to: Day): Day[] {
  const days: Day[] = [];
  for (let at = startOfDay(from).getTime(); at <= startOfDay(to).getTime(); at += dayMs)
    days.push(dayOf(new Date(at)));
  return days;
}

/**
 * Durations are kept as counts in buckets, because counts of different days and shards can be added and a list of
 * durations would grow for ever. Every bucket is 4 % wider than the one before it, so the middle of a bucket is within
 * 2 % of every duration in it. Bucket 0 takes everything up to one second.
 */
const bucketRatio = 1.04;

export function bucketOfSeconds(seconds: number): number {
  return seconds <= 1 ? 0 : Math.ceil(Math.log(seconds) / Math.log(bucketRatio) - 1e-9);
}

/** The geometric middle of a bucket: in proportion, equally far from both of its ends. */
export function secondsOfBucket(bucket: number): number {
  if (bucket === 0) return 1;
  const middle = bucketRatio ** (bucket - 0.5);
  return Math.round(middle * 10) / 10;
}

/** The lower median: with an even number of durations, the smaller of the two in the middle. */
export function medianSeconds(buckets: ReadonlyMap<number, number>): number | null {
  let total = 0;
  for (const count of buckets.values()) total += count;
  if (total <= 0) return null;
  let before = 0;
  for (const [bucket, count] of [...buckets].sort(([a], [b]) => a - b)) {
    before += count;
    if (before * 2 >= total) return secondsOfBucket(bucket);
  }
  return null;
}

/** Part of the figures of one day: a roll-up row, or sessions that are still in the table as open. */
export type FigureRow = {
  day: Day;
  counts: Partial<Record<SessionStatus, number>>;
  failureCodes: Partial<Record<FailureCode, number>>;
  secondsBuckets: Record<string, number>;
};

export type StatusCounts = Record<SessionStatus, number> & { total: number };

export type Overview = {
  totals: StatusCounts;
  days: ({ day: Day } & StatusCounts)[];
  successRate: number | null;
  medianSecondsToComplete: number | null;
  failureCodes: Partial<Record<FailureCode, number>>;
};

function noCounts(): StatusCounts {
  return { total: 0, created: 0, in_progress: 0, succeeded: 0, failed: 0, expired: 0, cancelled: 0 };
}

/** Adds the rows up. The order of rows does not matter, and days without any are there with zeros. */
export function summarize(days: readonly Day[], rows: readonly FigureRow[]): Overview {
  const totals = noCounts();
  const byDay = new Map(days.map((day) => [day, noCounts()]));
  const failureCodes: Partial<Record<FailureCode, number>> = {};
  const buckets = new Map<number, number>();
  for (const row of rows) {
    const counts = byDay.get(row.day);
    if (counts === undefined) continue;
    for (const [status, count] of Object.entries(row.counts) as [SessionStatus, number][]) {
      counts[status] += count;
      counts.total += count;
      totals[status] += count;
      totals.total += count;
    }
    for (const [code, count] of Object.entries(row.failureCodes) as [FailureCode, number][])
      failureCodes[code] = (failureCodes[code] ?? 0) + count;
    for (const [bucket, count] of Object.entries(row.secondsBuckets))
      buckets.set(Number(bucket), (buckets.get(Number(bucket)) ?? 0) + count);
  }
  const ended = totals.succeeded + totals.failed + totals.expired + totals.cancelled;
  return {
    totals,
    days: [...byDay].map(([day, counts]) => ({ day, ...counts })),
    successRate: ended === 0 ? null : Math.round((totals.succeeded / ended) * 10_000) / 10_000,
    medianSecondsToComplete: medianSeconds(buckets),
    failureCodes,
  };
}
