import type { CancelReason, FailureCode } from "@assay/contract/sessions";
import { countOutcome } from "../analytics/session-day.store.ts";
import { type Actor, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { type NewEvent, publishEvents } from "../webhooks/publish-event.ts";
import { endOpenAttempt, moveSession, type SessionRow } from "./session.store.ts";

/** Told the id of a session whose status changed. Expiry is not announced: everybody can see it in the session. */
export const sessionChannel = "session_changed";

/** What may be in the event of a success: it holds claims, so it goes to `publishEvents` and nowhere else. */
export type SharedData = { claims: Record<string, unknown>; selected_field_keys: readonly string[] };

export type SessionEnd =
  | { status: "succeeded"; data: SharedData; riskScore: number }
  | { status: "failed"; failureCode: FailureCode; riskScore: number | undefined }
  | { status: "cancelled"; reason: CancelReason };

/**
 * The one way by which a session ends other than expiry. The caller holds the session's row and has decided that it may
 * end; status, attempt, event, audit entry and count are there together or not at all.
 */
export async function endSession(
  core: Core,
  tx: Tx,
  session: SessionRow,
  end: SessionEnd,
  actor: Actor,
  now: Date,
): Promise<SessionRow> {
  const ended = await moveSession(tx, session.id, {
    from: session.status,
    to: end.status,
    failureCode: end.status === "failed" ? end.failureCode : null,
    completedAt: now,
    now,
  });
  if (ended === null) throw new Error("a session changed although its row was held");
  await endOpenAttempt(tx, session.id, {
    status: end.status,
    failureCode:
      end.status === "failed" ? end.failureCode : end.status === "cancelled" ? "session_cancelled" : null,
    ...(end.status === "cancelled" || end.riskScore === undefined ? {} : { riskScore: end.riskScore }),
    now,
  });
  await publishEvents(core, tx, now, [eventOf(ended, end)]);
  await recordAudit(tx, now, {
    organizationId: session.organization_id,
    event: `session.${end.status}`,
    actor,
    targetId: session.id,
    details:
      end.status === "failed"
        ? { failure_code: end.failureCode }
        : end.status === "cancelled"
          ? { reason: end.reason }
          : {},
  });
  await tx.notify(sessionChannel, session.id);
  // Last, because these rows are shared between sessions.
  const counted = {
    organizationId: session.organization_id,
    sandbox: session.sandbox,
    createdAt: session.created_at,
  };
  if (session.status === "succeeded" && session.completed_at !== null) {
    await countOutcome(tx, { ...counted, status: "succeeded", completedAt: session.completed_at }, -1);
  }
  await countOutcome(
    tx,
    end.status === "succeeded"
      ? { ...counted, status: "succeeded", completedAt: now }
      : end.status === "failed"
        ? { ...counted, status: "failed", failureCode: end.failureCode }
        : { ...counted, status: "cancelled" },
  );
  return ended;
}

function eventOf(session: SessionRow, end: SessionEnd): NewEvent {
  const tries = triesOf(session);
  switch (end.status) {
    case "succeeded":
      return sessionEvent(session, "verification.session.succeeded", { ...end.data });
    case "failed":
      return sessionEvent(session, "verification.session.failed", {
        failure_code: end.failureCode,
        ...tries,
      });
    case "cancelled":
      return sessionEvent(session, "verification.session.cancelled", {
        outcome: "not_verified",
        reason: end.reason,
        ...tries,
      });
  }
}

type EventSession = Pick<
  SessionRow,
  "id" | "organization_id" | "sandbox" | "contract_version" | "client_reference_id" | "webhook_endpoint_id"
>;

export function triesOf(session: Pick<SessionRow, "nfc_tries_used" | "liveness_tries_used">) {
  return { nfc_tries_used: session.nfc_tries_used, liveness_tries_used: session.liveness_tries_used };
}

export function sessionEvent(
  session: EventSession,
  type: NewEvent["type"],
  data: Record<string, unknown>,
): NewEvent {
  return {
    organizationId: session.organization_id,
    type,
    sandbox: session.sandbox,
    session: {
      id: session.id,
      contractVersion: session.contract_version,
      clientReferenceId: session.client_reference_id,
      webhookEndpointId: session.webhook_endpoint_id,
    },
    data,
  };
}
