import { sessionLifetimeMinutes } from "@assay/contract/facts";
import type { AttemptId } from "@assay/contract/ids";
import type {
  AttemptFailureCode,
  AttemptStatus,
  CancelReason,
  FailureCode,
  SessionStatus,
} from "@assay/contract/sessions";
import { later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { isCompletedBy, type PlannedStep } from "./plan.ts";

export const sessionLifetimeMs = sessionLifetimeMinutes * minuteMs;

/** A device that has not answered for this long has given up. */
export const inFlightMs = 60 * secondMs;

/** What decisions need to know of a stored session and of its open attempt. */
export type SessionState = {
  status: SessionStatus;
  expiresAt: Date;
  plan: readonly PlannedStep[];
};
export type OpenAttempt = { id: AttemptId; deviceHash: Buffer | null; lastSeenAt: Date | null };

/** A sandbox session may have a shorter lifetime. */
export function expiryOf(createdAt: Date, lifetimeMs = sessionLifetimeMs): Date {
  return later(createdAt, lifetimeMs);
}

/** Sessions created at or before this moment have expired at `now`, whatever their lifetime. */
export function lastExpiredCreation(now: Date): Date {
  return later(now, -sessionLifetimeMs);
}

export function isOpen(status: SessionStatus): boolean {
  return status === "created" || status === "in_progress";
}

/** The effective status: from `expiresAt` on an open session is expired, even before the job has run. */
export function statusAt(session: { status: SessionStatus; expiresAt: Date }, now: Date): SessionStatus {
  return isOpen(session.status) && session.expiresAt <= now ? "expired" : session.status;
}

/** The same for an attempt: when its session expires, it has failed. */
export function attemptStatusAt(
  attempt: { status: AttemptStatus; failureCode: AttemptFailureCode | null; sessionExpiresAt: Date },
  now: Date,
): { status: AttemptStatus; failureCode: AttemptFailureCode | null; expired: boolean } {
  if (attempt.status === "in_progress" && attempt.sessionExpiresAt <= now)
    return { status: "failed", failureCode: "session_expired", expired: true };
  return { status: attempt.status, failureCode: attempt.failureCode, expired: false };
}

export function isInFlight(attempt: OpenAttempt, now: Date): boolean {
  return attempt.lastSeenAt !== null && attempt.lastSeenAt.getTime() > now.getTime() - inFlightMs;
}

/** Why a change is refused. `ended` is any end but expiry. */
export type SessionRefusal = "expired" | "ended";

function refusalOf(status: SessionStatus): SessionRefusal | null {
  if (status === "expired") return "expired";
  return isOpen(status) ? null : "ended";
}

type ClaimDecision =
  | { kind: "start"; cancelAttempt: string | null }
  | { kind: "resume"; attemptId: AttemptId }
  | { kind: "refuse"; why: SessionRefusal | "other_device" };

/**
 * A device, or the page itself, which has no hash, claims the session. The same one resumes; another takes
 * over only if that is allowed.
 */
export function decideClaim(
  session: SessionState,
  attempt: OpenAttempt | null,
  device: { hash: Buffer | null; mayTakeOver: boolean },
  now: Date,
): ClaimDecision {
  const refusal = refusalOf(statusAt(session, now));
  if (refusal !== null) return { kind: "refuse", why: refusal };
  if (attempt === null) return { kind: "start", cancelAttempt: null };
  if (isSame(attempt.deviceHash, device.hash)) return { kind: "resume", attemptId: attempt.id };
  if (!device.mayTakeOver) return { kind: "refuse", why: "other_device" };
  return { kind: "start", cancelAttempt: attempt.id };
}

function isSame(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

type TryDecision =
  | { kind: "count"; step: PlannedStep }
  /** The steps of a kind have all passed. */
  | { kind: "succeed" }
  /** No try is left. `counted` is false for a try beyond the last one, which has no number. */
  | { kind: "fail"; failureCode: FailureCode; counted: boolean }
  | { kind: "refuse"; why: SessionRefusal | "not_your_turn" | "not_planned" | "already_counted" };

/**
 * A try was judged. Only the attempt in progress decides anything. Tries are numbered from 1 within their
 * step, so that a repeated report is not counted again.
 */
export function decideTry(
  session: SessionState,
  attempt: OpenAttempt | null,
  attemptId: AttemptId,
  judged: { step: string; number: number; failureCode: FailureCode | null },
  now: Date,
): TryDecision {
  const { number, failureCode } = judged;
  const refusal = refusalOf(statusAt(session, now));
  if (refusal !== null) return { kind: "refuse", why: refusal };
  if (attempt?.id !== attemptId) return { kind: "refuse", why: "not_your_turn" };
  const step = session.plan.find(({ name }) => name === judged.step);
  if (step === undefined) return { kind: "refuse", why: "not_planned" };
  if (number !== step.tries + 1) return { kind: "refuse", why: "already_counted" };
  if (failureCode !== null && number >= step.maxTries)
    // A try beyond the last one exists in one case only. The step passed with its last try, its bytes were
    // lost, and the repetition failed.
    return { kind: "fail", failureCode, counted: number === step.maxTries };
  if (number > step.maxTries) return { kind: "refuse", why: "already_counted" };
  return failureCode === null && isCompletedBy(session.plan, step)
    ? { kind: "succeed" }
    : { kind: "count", step };
}

/** A person declines. Anyone with the link may until someone has agreed; then only that person may cancel. */
export function decideDecline(
  session: SessionState,
  agreed: boolean,
  now: Date,
): { kind: "cancel" } | { kind: "none" } | { kind: "refuse"; why: "expired" | "agreed" } {
  const status = statusAt(session, now);
  if (agreed) return { kind: "refuse", why: "agreed" };
  if (status === "cancelled") return { kind: "none" };
  if (status === "expired") return { kind: "refuse", why: "expired" };
  // No device can claim a session without consent, so only `created` is left.
  return status === "created" ? { kind: "cancel" } : { kind: "refuse", why: "agreed" };
}

type CancelDecision =
  | { kind: "cancel" }
  | { kind: "none" }
  | { kind: "refuse"; why: SessionRefusal | "in_flight" };

/**
 * The partner cancels a session that has not ended and is not in flight. The person may abort at any time.
 * Only a withdrawal of consent changes an outcome: before delivery it retracts the success.
 */
export function decideCancel(
  session: SessionState,
  attempt: OpenAttempt | null,
  reason: CancelReason,
  now: Date,
): CancelDecision {
  const status = statusAt(session, now);
  if (status === "cancelled") return { kind: "none" };
  if (status === "succeeded" && reason === "consent_withdrawn") return { kind: "cancel" };
  const refusal = refusalOf(status);
  if (refusal !== null) return { kind: "refuse", why: refusal };
  if (reason === "cancelled_by_partner" && attempt !== null && isInFlight(attempt, now))
    return { kind: "refuse", why: "in_flight" };
  return { kind: "cancel" };
}
