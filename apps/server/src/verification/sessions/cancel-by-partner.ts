import type { SessionId } from "@assay/contract/ids";
import { publishTargets } from "../../delivery/webhooks/endpoint.store.ts";
import { actorOf } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { type CancelResult, cancelSession } from "./cancel-session.ts";
import { heldSession } from "./session.store.ts";

/** Cancelling what is cancelled already changes nothing. */
export async function cancelByPartner(
  core: Core,
  caller: OrganizationCaller,
  sessionId: SessionId,
): Promise<void> {
  const now = core.clock.now();
  await core.db.transaction(async (tx) => {
    const [session, targets] = await tx.ask(
      heldSession(caller, sessionId),
      publishTargets([caller.organizationId]),
    );
    if (session === null) throw new ApiError("SESSION_NOT_FOUND");
    const actor = actorOf(caller);
    const request = { reason: "cancelled_by_partner", actor, now, targets } as const;
    const cancelled = await cancelSession(core, tx, session, request);
    if (cancelled.kind === "refused") throw refusal(cancelled.why);
  });
}

function refusal(why: Extract<CancelResult, { kind: "refused" }>["why"]): ApiError {
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
