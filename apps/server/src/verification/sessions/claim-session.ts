import type { AttemptId } from "@assay/contract/ids";
import type { Tx } from "../../platform/db/db.ts";
import { newId } from "../../platform/kernel/ids.ts";
import { sessionChannel } from "./end-session.ts";
import {
  insertAttempt,
  lockOpenAttempt,
  openAttemptEnd,
  type SessionRow,
  sessionMove,
  stateOf,
  touchAttempt,
} from "./session.store.ts";
import { decideClaim, type SessionRefusal } from "./session.ts";

type ClaimResult =
  | { kind: "claimed"; attemptId: AttemptId; resumed: boolean; tookOver: boolean }
  | { kind: "refused"; why: SessionRefusal | "other_device" };

export const claimRefusals = {
  expired: "SESSION_EXPIRED",
  ended: "SESSION_ENDED",
  other_device: "HANDOFF_DEVICE_MISMATCH",
} as const;

/**
 * A device claims the session, whose row the caller has locked, and begins an attempt. The same device gets
 * its attempt back. Another one is refused unless it may take over, which cancels the old attempt.
 * `deviceHash` is null for an attempt that the page makes by requests alone.
 */
export async function claimSession(
  tx: Tx,
  session: SessionRow,
  claim: { deviceHash: Buffer | null; mayTakeOver: boolean; now: Date },
): Promise<ClaimResult> {
  const { now } = claim;
  const { id: sessionId } = session;
  const attempt = session.status === "in_progress" ? await lockOpenAttempt(tx, sessionId) : null;
  const device = { hash: claim.deviceHash, mayTakeOver: claim.mayTakeOver };
  const decision = decideClaim(stateOf(session), attempt, device, now);
  switch (decision.kind) {
    case "refuse":
      return { kind: "refused", why: decision.why };
    case "resume":
      await touchAttempt(tx, decision.attemptId, now);
      return { kind: "claimed", attemptId: decision.attemptId, resumed: true, tookOver: false };
    case "start": {
      const tookOver = decision.cancelAttempt !== null;
      if (tookOver)
        tx.write(openAttemptEnd(sessionId, { status: "cancelled", failureCode: null, riskScore: null, now }));
      const attemptId = newId("va", now);
      insertAttempt(tx, {
        id: attemptId,
        sessionId,
        organizationId: session.organizationId,
        sandbox: session.sandbox,
        deviceHash: claim.deviceHash,
        sessionExpiresAt: session.expiresAt,
        now,
      });
      if (session.status === "created")
        tx.write(sessionMove(sessionId, { from: "created", to: "in_progress", completedAt: null, now }));
      tx.notify(sessionChannel, sessionId);
      return { kind: "claimed", attemptId, resumed: false, tookOver };
    }
  }
}
