import { methods as allMethods, defaultMethods, type Method } from "@assay/contract/facts";
import type { FailureCode, SessionStatus } from "@assay/contract/sessions";
import { dayMs } from "../../platform/kernel/clock.ts";
import type { StepRules } from "../evidence/kind.ts";
import { kinds } from "../evidence/kinds.ts";
import type { StepsDone } from "./plan.ts";

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
 * Durations are stored as counts in buckets, because counts of days and shards can be added. Every bucket is
 * 4 % wider than the one before, so its middle is within 2 % of every duration in it. Bucket 0 takes
 * everything up to one second.
 */
const bucketRatio = 1.04;

export function bucketOfSeconds(seconds: number): number {
  return seconds <= 1 ? 0 : Math.ceil(Math.log(seconds) / Math.log(bucketRatio) - 1e-9);
}

/** The geometric middle of a bucket: in proportion, equally far from both of its ends. */
export function secondsOfBucket(bucket: number): number {
  const middle = bucketRatio ** (bucket - 0.5);
  return Math.round(middle * 10) / 10;
}

/** The lower median: with an even number of durations, the smaller of the two in the middle. */
export function medianSeconds(buckets: ReadonlyMap<number, number>): number | null {
  return quantileSeconds(buckets, 0.5);
}

/** The smallest duration that at least `share` of all durations do not exceed. */
export function quantileSeconds(buckets: ReadonlyMap<number, number>, share: number): number | null {
  let total = 0;
  for (const count of buckets.values()) total += count;
  if (total <= 0) return null;
  let before = 0;
  for (const [bucket, count] of [...buckets].sort(([a], [b]) => a - b)) {
    before += count;
    if (before >= total * share) return secondsOfBucket(bucket);
  }
  return null;
}

/** Counts durations by class, up to each bound. The last class takes all longer ones. */
export function durationClasses(
  buckets: ReadonlyMap<number, number>,
  bounds: readonly number[],
): { upToSeconds: number | null; count: number }[] {
  const classes = [...bounds, null].map((upToSeconds) => ({ upToSeconds, count: 0 }));
  for (const [bucket, count] of buckets) {
    const seconds = secondsOfBucket(bucket);
    const found = classes.find(({ upToSeconds }) => upToSeconds === null || seconds <= upToSeconds);
    if (found !== undefined) found.count += count;
  }
  return classes;
}

/** The stages that steps lead to, in the order of their kind. */
const stepStages = Object.values(kinds).flatMap(({ steps }) =>
  steps.map(({ name, stage }) => ({ step: name, ...stage })),
);
const stagesBeforeSteps = ["created", "opened", "agreed"] as const;
export type StageBeforeSteps = (typeof stagesBeforeSteps)[number];
/** The last stage that a session reached. */
export type SessionStage = StageBeforeSteps | (typeof stepStages)[number]["name"] | "succeeded";

/** The last stage reached by a step; null without one. */
export function stageOf(steps: StepsDone): SessionStage | null {
  const reached = stepStages.findLast(({ step, reachedBy }) => {
    const done = steps[step];
    return reachedBy === "try" ? done !== undefined : done?.passed_at !== undefined;
  });
  return reached?.name ?? null;
}

type Counts = Readonly<Partial<Record<string, number>>>;
type StagedKind = { methods: readonly Method[]; steps: readonly StepRules[] };

/**
 * How many ended sessions reached each stage, computed from how many ended at each. A stage includes the
 * later stages of its kind and the successes by its methods. Stages before the steps include all. Successes
 * without a method are from before methods were counted.
 */
export function funnelOf(endedAt: Counts, succeededBy: Counts): Record<SessionStage, number> {
  // A retracted success may have been counted before stages were.
  const ended = (stage: string) => Math.max(0, endedAt[stage] ?? 0);
  const by = (methods: readonly Method[]) =>
    methods.reduce((sum, method) => sum + (succeededBy[method] ?? 0), 0);
  const funnel: Record<string, number> = {};
  let beyond = ended("succeeded");
  for (const { methods: own, steps } of Object.values<StagedKind>(kinds)) {
    const isDefault = own.some((method) => defaultMethods.includes(method));
    const others = allMethods.filter((method) => !own.includes(method));
    let reached = isDefault ? Math.max(0, ended("succeeded") - by(others)) : by(own);
    for (const { stage } of steps.toReversed()) {
      reached += ended(stage.name);
      beyond += ended(stage.name);
      funnel[stage.name] = reached;
    }
  }
  for (const stage of stagesBeforeSteps.toReversed()) {
    beyond += ended(stage);
    funnel[stage] = beyond;
  }
  return { ...funnel, succeeded: ended("succeeded") } as Record<SessionStage, number>;
}

/** Part of the figures of one day: a roll-up row, or sessions that are still in the table as open. */
export type FigureRow = {
  day: Day;
  counts: Partial<Record<SessionStatus, number>>;
  failureCodes: Partial<Record<FailureCode, number>>;
  secondsBuckets: Record<string, number>;
  /** Ended sessions by the furthest stage that they reached. */
  stages: Partial<Record<SessionStage, number>>;
  /** Successes by method. */
  methods: Partial<Record<Method, number>>;
};

/** A person who is quick needs half a minute, and a session is open for an hour. */
const durationBounds = [30, 60, 120, 300, 600, 1800] as const;

type StatusCounts = Record<SessionStatus, number> & { total: number };

type Overview = {
  totals: StatusCounts;
  days: ({ day: Day; medianSeconds: number | null } & StatusCounts)[];
  successRate: number | null;
  medianSecondsToComplete: number | null;
  ninetiethSecondsToComplete: number | null;
  durations: { upToSeconds: number | null; count: number }[];
  funnel: Record<SessionStage, number>;
  failureCodes: Partial<Record<FailureCode, number>>;
  methods: Partial<Record<Method, number>>;
};

function noCounts(): StatusCounts {
  return { total: 0, created: 0, in_progress: 0, succeeded: 0, failed: 0, expired: 0, cancelled: 0 };
}

/** Adds up the rows in any order. Days without rows are included with zeros. */
export function summarize(days: readonly Day[], rows: readonly FigureRow[]): Overview {
  const totals = noCounts();
  const byDay = new Map(days.map((day) => [day, noCounts()]));
  const failureCodes: Partial<Record<FailureCode, number>> = {};
  const buckets = new Map<number, number>();
  const bucketsByDay = new Map(days.map((day) => [day, new Map<number, number>()]));
  const stages: Partial<Record<SessionStage, number>> = {};
  const succeededBy: Partial<Record<Method, number>> = {};
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
      for (const counted of [buckets, bucketsByDay.get(row.day)])
        counted?.set(Number(bucket), (counted.get(Number(bucket)) ?? 0) + count);
    for (const [stage, count] of Object.entries(row.stages) as [SessionStage, number][])
      stages[stage] = (stages[stage] ?? 0) + count;
    for (const [method, count] of Object.entries(row.methods) as [Method, number][])
      succeededBy[method] = (succeededBy[method] ?? 0) + count;
  }
  // A retracted success may have been counted before methods were.
  const methods = Object.fromEntries(Object.entries(succeededBy).filter(([, count]) => count > 0));
  const ended = totals.succeeded + totals.failed + totals.expired + totals.cancelled;
  return {
    totals,
    days: [...byDay].map(([day, counts]) => ({
      day,
      ...counts,
      medianSeconds: medianSeconds(bucketsByDay.get(day) ?? new Map()),
    })),
    successRate: ended === 0 ? null : Math.round((totals.succeeded / ended) * 10_000) / 10_000,
    medianSecondsToComplete: medianSeconds(buckets),
    ninetiethSecondsToComplete: quantileSeconds(buckets, 0.9),
    durations: durationClasses(buckets, durationBounds),
    funnel: funnelOf(stages, methods),
    failureCodes,
    methods,
  };
}
