import { createHash } from "node:crypto";
import type { SessionId } from "@assay/contract/ids";
import { handoffLifetimeSeconds } from "@assay/contract/verify";
import { later, secondMs } from "../../platform/kernel/clock.ts";

export type HandoffToken = {
  expiresAt: Date;
  consumedAt: Date | null;
  /** The device that claimed it. Null before, and if another token of the session was claimed. */
  deviceHash: Buffer | null;
  mayTakeOver: boolean;
};

type HandoffDecision =
  | { kind: "claim"; firstUse: boolean; mayTakeOver: boolean }
  | { kind: "refuse"; code: "HANDOFF_TOKEN_INVALID" | "HANDOFF_TOKEN_EXPIRED" | "HANDOFF_TOKEN_CONSUMED" };

/**
 * Whether a device may claim with this token. The device that claimed it may resume with it. Resuming never
 * takes over, or a device that was replaced could take the session back with its old token.
 */
export function decideHandoff(token: HandoffToken | null, deviceHash: Buffer, now: Date): HandoffDecision {
  if (token === null) return { kind: "refuse", code: "HANDOFF_TOKEN_INVALID" };
  if (token.consumedAt !== null) {
    return token.deviceHash?.equals(deviceHash)
      ? { kind: "claim", firstUse: false, mayTakeOver: false }
      : { kind: "refuse", code: "HANDOFF_TOKEN_CONSUMED" };
  }
  if (token.expiresAt <= now) return { kind: "refuse", code: "HANDOFF_TOKEN_EXPIRED" };
  return { kind: "claim", firstUse: true, mayTakeOver: token.mayTakeOver };
}

/** No token outlives its session. */
export function handoffExpiry(now: Date, sessionExpiresAt: Date): Date {
  const expiry = later(now, handoffLifetimeSeconds * secondMs);
  return expiry < sessionExpiresAt ? expiry : sessionExpiresAt;
}

/** Bound to the session, so that a device cannot be tracked across sessions. */
export function hashDevice(sessionId: SessionId, deviceId: string): Buffer {
  return createHash("sha256").update(`${sessionId}\n${deviceId}`).digest();
}
