import type { SessionId } from "@assay/contract/ids";
import type { SessionStatus } from "@assay/contract/sessions";
import { personActor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { endSession } from "../sessions/end-session.ts";
import { lockSessionOfPerson, stateOf } from "../sessions/session.store.ts";
import { decideDecline } from "../sessions/session.ts";
import { findConsent } from "./consent.store.ts";
import { findReturnUrl } from "./return-url.ts";

/**
 * The person does not agree: the session ends, and the partner is told at once in place of an hour later. Agreeing holds the same
 * row, so of two that come together one is first, and the other learns of it.
 */
export function declineByPerson(
  core: Core,
  sessionId: SessionId,
): Promise<{ status: SessionStatus; returnUrl: string | null }> {
  return core.db.transaction(async (tx) => {
    const now = core.clock.now();
    const session = await lockSessionOfPerson(tx, sessionId);
    if (session === null) throw new ApiError("SESSION_NOT_FOUND");
    const agreed = (await findConsent(tx, sessionId)) !== null;
    const decision = decideDecline(stateOf(session), agreed, now);
    if (decision.kind === "refuse") {
      if (decision.why === "expired") throw new ApiError("SESSION_EXPIRED");
      throw new ApiError("CONFLICT", {
        message: "Somebody has agreed to this verification, so it can no longer be declined.",
        hint: "Whoever agreed can cancel it, with the cancel token that agreeing returned.",
      });
    }
    if (decision.kind === "cancel") {
      const end = { status: "cancelled", reason: "cancelled_by_user" } as const;
      await endSession(core, tx, session, end, personActor, now);
    }
    return { status: "cancelled", returnUrl: await findReturnUrl(tx, session, "cancelled") };
  });
}
