import type { SessionId } from "@assay/contract/ids";
import type { SessionStatus } from "@assay/contract/sessions";
import type { cancelOutcomes } from "@assay/contract/verify";
import { personActor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { cancelSession } from "../sessions/cancel-session.ts";
import { lockSessionOfPerson, spendCancelToken } from "../sessions/session.store.ts";
import { markConsentWithdrawn, spendConsentToken } from "./consent.store.ts";

type CancelledByPerson = { outcome: (typeof cancelOutcomes)[number]; status: SessionStatus };

/**
 * Aborts the session, or withdraws consent after a success. A refusal leaves the token unspent. If the
 * partner has received something, the outcome stands, but undelivered payloads are scrubbed.
 */
export function cancelByPerson(
  core: Core,
  sessionId: SessionId,
  cancelToken: string,
): Promise<CancelledByPerson> {
  const { db, clock } = core;
  const tokenHash = hashToken(cancelToken);
  return db.transaction(async (tx) => {
    const now = clock.now();
    const session = await lockSessionOfPerson(tx, sessionId);
    if (session === null) throw new ApiError("SESSION_NOT_FOUND");
    const spent =
      (await spendCancelToken(tx, sessionId, tokenHash, now)) ??
      (await spendConsentToken(tx, sessionId, tokenHash, now));
    if (spent === null) throw new ApiError("CANCEL_TOKEN_INVALID");
    if (!spent.first) throw new ApiError("CANCEL_TOKEN_USED");
    const withdrawing = session.status === "succeeded";
    const cancelled = await cancelSession(core, tx, session, {
      reason: withdrawing ? "consent_withdrawn" : "cancelled_by_user",
      actor: personActor,
      now,
    });
    if (cancelled.kind === "refused" && cancelled.why !== "delivered") throw refusal(cancelled.why);
    await markConsentWithdrawn(tx, sessionId, now);
    if (cancelled.kind === "refused") return { outcome: "withdrawn_after_delivery", status: session.status };
    return { outcome: withdrawing ? "consent_withdrawn" : "cancelled", status: "cancelled" };
  });
}

function refusal(why: "expired" | "ended" | "in_flight"): ApiError {
  switch (why) {
    case "expired":
      return new ApiError("SESSION_EXPIRED");
    case "ended":
    case "in_flight":
      return new ApiError("SESSION_ENDED", {
        message: "The verification has failed; nothing was shared.",
        hint: "There is nothing to withdraw.",
      });
  }
}
