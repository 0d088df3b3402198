import { hourMs, later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";

/**
 * A leaky bucket: each try adds one, and it drains with time. Below `free` tries there is no wait. Beyond
 * that every try is followed by a wait that doubles up to `maxDelayMs`.
 */
export type LimitRule = {
  free: number;
  firstDelayMs: number;
  maxDelayMs: number;
  /** The time in which the bucket drains by one try. */
  drainMs: number;
};

export type LimitState = { level: number; updatedAt: Date; blockedUntil: Date | null };

type GuessDecision = { allowed: true; next: LimitState } | { allowed: false; retryAfterMs: number };

/** Counts a try before its result is known, so that concurrent tries are all counted. */
export function tryOnce(state: LimitState | null, rule: LimitRule, now: Date): GuessDecision {
  const blockedMs = (state?.blockedUntil?.getTime() ?? 0) - now.getTime();
  if (blockedMs > 0) return { allowed: false, retryAfterMs: blockedMs };
  const level = drained(state, rule, now) + 1;
  const delayMs = delayAfter(level, rule);
  return {
    allowed: true,
    next: { level, updatedAt: now, blockedUntil: delayMs === 0 ? null : later(now, delayMs) },
  };
}

function drained(state: LimitState | null, rule: LimitRule, now: Date): number {
  if (state === null) return 0;
  const elapsedMs = Math.max(0, now.getTime() - state.updatedAt.getTime());
  return Math.max(0, state.level - elapsedMs / rule.drainMs);
}

export function delayAfter(level: number, rule: LimitRule): number {
  if (level < rule.free) return 0;
  // The cap keeps the power finite: after 30 doublings every rule has reached its `maxDelayMs`.
  const doublings = Math.min(30, level - rule.free);
  return Math.min(Math.ceil(rule.firstDelayMs * 2 ** doublings), rule.maxDelayMs);
}

/** When the state can be deleted: the bucket is empty and no wait is left, which equals no row. */
export function forgottenAt(state: LimitState, rule: LimitRule): Date {
  // One extra millisecond, because draining may leave a rounding error above zero.
  const empty = later(state.updatedAt, Math.ceil(state.level * rule.drainMs) + 1);
  return state.blockedUntil !== null && state.blockedUntil > empty ? state.blockedUntil : empty;
}

/**
 * Three buckets for each guess. The wait by account is the shortest, because strangers can cause it for the
 * owner. Only `accountAndOrigin` applies to an address with an earlier sign-in to the account (a familiar
 * origin).
 */
export const rules = {
  account: { free: 30, firstDelayMs: 10 * secondMs, maxDelayMs: 5 * minuteMs, drainMs: 10 * minuteMs },
  accountAndOrigin: {
    free: 10,
    firstDelayMs: 10 * secondMs,
    maxDelayMs: 15 * minuteMs,
    drainMs: 30 * minuteMs,
  },
  address: { free: 60, firstDelayMs: 30 * secondMs, maxDelayMs: 15 * minuteMs, drainMs: 20 * secondMs },
  /** Mails to one account that one address requests. */
  mailFromOrigin: { free: 5, firstDelayMs: minuteMs, maxDelayMs: 15 * minuteMs, drainMs: 5 * minuteMs },
  /**
   * Mails to one account, from all requests. The longest wait is shorter than the life of any link: while a
   * stranger's requests block new mails, the mailbox still has a valid link.
   */
  mailToAccount: { free: 8, firstDelayMs: minuteMs, maxDelayMs: 5 * minuteMs, drainMs: 5 * minuteMs },
  /** Requests that cost work but guess nothing: new accounts, new passkey challenges. */
  work: { free: 300, firstDelayMs: 10 * secondMs, maxDelayMs: 5 * minuteMs, drainMs: 3 * secondMs },
} as const satisfies Record<string, LimitRule>;

export const familiarForMs = 90 * 24 * hourMs;
