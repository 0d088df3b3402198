import type { AttemptId, SessionId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hashToken, newToken } from "../../platform/kernel/ids.ts";
import { putSocketToken } from "../attempts/attempt-socket.store.ts";
import { claimRefusals, claimSession } from "../sessions/claim-session.ts";
import { isBoundElsewhere } from "../sessions/return-code.ts";
import { consentOf } from "./consent.store.ts";
import { consumeHandoffTokens, heldHandoffToken, insertHandoffToken } from "./handoff.store.ts";
import { decideHandoff, handoffExpiry, hashDevice } from "./handoff.ts";
import { lockOpenSessionOfPerson } from "./session-of-person.ts";

/**
 * Creates a token for the reading device. Only a token requested with the consent's cancel token lets its
 * device take over from another one.
 */
export function createHandoff(
  { db, clock }: Core,
  sessionId: SessionId,
  cancelToken: string | undefined,
): Promise<{ token: string; expiresAt: Date; now: Date }> {
  return db.transaction(async (tx) => {
    const now = clock.now();
    const { session, answer: consent } = await lockOpenSessionOfPerson(
      tx,
      sessionId,
      now,
      consentOf(sessionId),
    );
    if (consent === null) throw new ApiError("CONSENT_REQUIRED");
    if (cancelToken !== undefined && !consent.cancelTokenHash.equals(hashToken(cancelToken))) {
      throw new ApiError("CANCEL_TOKEN_INVALID", {
        message: "`cancel_token` is not that of the current consent.",
        hint: "Someone has agreed again with this link. Read the details and agree again.",
      });
    }
    const token = newToken();
    const expiresAt = handoffExpiry(now, session.expiresAt);
    insertHandoffToken(tx, {
      tokenHash: hashToken(token),
      sessionId,
      organizationId: session.organizationId,
      mayTakeOver: cancelToken !== undefined,
      expiresAt,
      now,
    });
    return { token, expiresAt, now };
  });
}

/** The reading device claims or resumes the session. A concurrent claim finds the token consumed. */
export function claimHandoff(
  { db, clock }: Core,
  claim: {
    sessionId: SessionId;
    handoffToken: string;
    deviceId: string;
    returnCode: string | undefined;
  },
): Promise<{ attemptId: AttemptId; socketToken: string; resumed: boolean; expiresAt: Date; now: Date }> {
  const { sessionId } = claim;
  const tokenHash = hashToken(claim.handoffToken);
  const deviceHash = hashDevice(sessionId, claim.deviceId);
  return db.transaction(async (tx) => {
    const now = clock.now();
    const { session, answer: token } = await lockOpenSessionOfPerson(
      tx,
      sessionId,
      now,
      heldHandoffToken(sessionId, tokenHash),
    );
    const decision = decideHandoff(token, deviceHash, now);
    if (decision.kind === "refuse") throw new ApiError(decision.code);
    if (isBoundElsewhere(session, claim.returnCode)) throw new ApiError("OTHER_BROWSER");
    const { mayTakeOver } = decision;
    const claimed = await claimSession(tx, session, { deviceHash, mayTakeOver, now });
    if (claimed.kind === "refused") throw new ApiError(claimRefusals[claimed.why]);
    // A device that resumes must not void the token with which the person is about to change devices.
    if (decision.firstUse) consumeHandoffTokens(tx, { sessionId, tokenHash, deviceHash, now });
    const { attemptId, resumed } = claimed;
    const socketToken = newToken();
    putSocketToken(tx, {
      attemptId,
      sessionId,
      organizationId: session.organizationId,
      tokenHash: hashToken(socketToken),
      now,
    });
    return { attemptId, socketToken, resumed, expiresAt: session.expiresAt, now };
  });
}
