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
 * The person declines: the session ends, and the partner gets the event at once instead of after an hour.
 * Consent locks the same row, so the later of two concurrent requests is refused.
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
        message: "A person has agreed to this verification, so it can no longer be declined.",
        hint: "Cancel it instead, with the cancel token that the consent returned.",
      });
    }
    if (decision.kind === "cancel") {
      const end = { status: "cancelled", reason: "cancelled_by_user" } as const;
      await endSession(core, tx, session, end, personActor, now);
    }
    return { status: "cancelled", returnUrl: await findReturnUrl(tx, session, "cancelled") };
  });
}
