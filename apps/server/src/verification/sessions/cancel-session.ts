import type { CancelReason } from "@assay/contract/sessions";
import type { PublishTarget } from "../../delivery/webhooks/endpoint.store.ts";
import { scrubSessionDeliveries } from "../../delivery/webhooks/scrub-session-deliveries.ts";
import type { Actor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { endSession } from "./end-session.ts";
import { lockOpenAttempt, type SessionRow, stateOf } from "./session.store.ts";
import { decideCancel, type SessionRefusal } from "./session.ts";

export type CancelResult =
  | { kind: "cancelled" }
  /** It was cancelled before; nothing was written. */
  | { kind: "already_cancelled" }
  | { kind: "refused"; why: SessionRefusal | "in_flight" | "delivered" };

/**
 * Cancels a session whose row the caller has locked, or returns the reason why not.
 *
 * A withdrawal after success scrubs undelivered payloads. Once the partner has received the claims, the
 * outcome stands.
 */
export async function cancelSession(
  core: Core,
  tx: Tx,
  session: SessionRow,
  request: {
    reason: CancelReason;
    actor: Actor;
    now: Date;
    targets?: readonly PublishTarget[];
  },
): Promise<CancelResult> {
  const { now } = request;
  const attempt = session.status === "in_progress" ? await lockOpenAttempt(tx, session.id) : null;
  const decision = decideCancel(stateOf(session), attempt, request.reason, now);
  if (decision.kind === "none") return { kind: "already_cancelled" };
  if (decision.kind === "refuse") return { kind: "refused", why: decision.why };
  if (session.status === "succeeded") {
    const scrubbed = await scrubSessionDeliveries(tx, { id: session.id, ...tenantOf(session) }, now);
    if (scrubbed === "delivered") return { kind: "refused", why: "delivered" };
  }
  const end = { status: "cancelled", reason: request.reason } as const;
  await endSession(core, tx, session, end, request.actor, now, request.targets);
  return { kind: "cancelled" };
}
