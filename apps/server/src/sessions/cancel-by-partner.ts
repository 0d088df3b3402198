import type { SessionId } from "@assay/contract/ids";
import { actorOf } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { OrganizationCaller } from "../kernel/caller.ts";
import { type CancelResult, cancelSession } from "./cancel-session.ts";
import { lockSession } from "./session.store.ts";

/** Cancelling what is cancelled already changes nothing. */
export async function cancelByPartner(
  core: Core,
  caller: OrganizationCaller,
  sessionId: SessionId,
): Promise<void> {
  const now = core.clock.now();
  await core.db.transaction(async (tx) => {
    const session = await lockSession(tx, caller, sessionId);
    if (session === null) throw new ApiError("SESSION_NOT_FOUND");
    const actor = actorOf(caller);
    const cancelled = await cancelSession(core, tx, session, { reason: "cancelled_by_partner", actor, now });
    if (cancelled.result === "refused") throw refusal(cancelled.why);
  });
}

function refusal(why: Extract<CancelResult, { result: "refused" }>["why"]): ApiError {
  switch (why) {
    case "expired":
      return new ApiError("SESSION_EXPIRED");
    case "in_flight":
      return new ApiError("SESSION_IN_PROGRESS");
    case "ended":
    case "delivered":
      return new ApiError("CONFLICT", { message: "The session already has an outcome." });
  }
}
