import type { DeliveryError, DisabledReason } from "@assay/contract/webhooks";
import { dayMs, hourMs, later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";

/** Wait after each failed try. The first try is made at once; after the last one the delivery has failed. */
export const retryDelaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
] as const;
export const maxTries = retryDelaysMs.length + 1;
const maxRetryAfterMs = dayMs;
export const disableAfterMs = 5 * dayMs;
const jitterShare = 0.1;

/** The result of one attempt. */
export type AttemptResult = {
  statusCode: number | null;
  /** Null exactly when the partner answered 2xx. */
  error: DeliveryError | null;
  retryAfter: string | null;
};

/** What an attempt writes to its delivery. `scrub`: the payload is deleted at once. */
export type NextState =
  | { status: "succeeded"; nextAttemptAt: null; scrub: true; payloadExpiresAt: null }
  | { status: "pending"; nextAttemptAt: Date; scrub: false; payloadExpiresAt: null }
  | { status: "failed"; nextAttemptAt: null; scrub: true; payloadExpiresAt: null }
  | { status: "failed"; nextAttemptAt: null; scrub: false; payloadExpiresAt: Date };

export function errorOfStatus(statusCode: number): DeliveryError | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400 ? "redirect_not_followed" : "status_not_2xx";
}

/**
 * The state of a delivery after an attempt. `triesUsed` counts the earlier tries of this schedule. `random`,
 * from 0 up to 1, is jitter that spreads the retries of deliveries that failed together.
 */
export function afterAttempt(
  delivery: { triesUsed: number; retentionHours: number },
  result: AttemptResult,
  now: Date,
  random: number,
): NextState {
  const over = { nextAttemptAt: null, scrub: true, payloadExpiresAt: null } as const;
  if (result.error === null) return { ...over, status: "succeeded" };
  const delayMs = retryDelaysMs[delivery.triesUsed];
  if (delayMs !== undefined) {
    const spreadMs = delayMs * (1 + jitterShare * random);
    const waitMs = Math.max(spreadMs, parseRetryAfter(result.retryAfter, now) ?? 0);
    const nextAttemptAt = later(now, Math.round(waitMs));
    return { ...over, status: "pending", nextAttemptAt, scrub: false };
  }
  if (delivery.retentionHours === 0) return { ...over, status: "failed" };
  const payloadExpiresAt = later(now, delivery.retentionHours * hourMs);
  return { ...over, status: "failed", scrub: false, payloadExpiresAt };
}

/** Why an endpoint must be disabled after a failed attempt, or null. */
export function disabledBy(
  result: AttemptResult,
  failingSince: Date | null,
  now: Date,
): Exclude<DisabledReason, "disabled_by_request"> | null {
  if (result.error === null) return null;
  if (result.statusCode === 410) return "endpoint_gone";
  if (failingSince !== null && now.getTime() - failingSince.getTime() >= disableAfterMs)
    return "no_success_for_5_days";
  return null;
}

/** `Retry-After`, in seconds or as a date, in milliseconds, at most a day. Null if it cannot be read. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * secondMs, maxRetryAfterMs);
  // The three forms of an HTTP date begin with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text) || text.length > 40) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return null;
  return Math.min(Math.max(at - now.getTime(), 0), maxRetryAfterMs);
}
