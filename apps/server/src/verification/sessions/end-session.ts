import type { RequirementName } from "@assay/contract/facts";
import {
  type AttemptFailureCode,
  type CancelReason,
  type FailureCode,
  methodOf,
} from "@assay/contract/sessions";
import type { PublishTarget } from "../../delivery/webhooks/endpoint.store.ts";
import { publishEvents, type SessionEvent } from "../../delivery/webhooks/publish-event.ts";
import { type Actor, recordAudit } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import type { SharedData } from "../evidence/shared-data.ts";
import { returnCodeSha256 } from "./return-code.ts";
import { openAttemptEnd, type SessionRow, sessionMove } from "./session.store.ts";
import { type OutcomeOfDay, outcomeWrite } from "./session-day.store.ts";
import { triesOf } from "./tries.ts";

/**
 * NOTIFY channel; the payload is the session id. Sent when a status changes, except on expiry, which
 * `expires_at` announces in advance.
 */
export const sessionChannel = "session_changed";

type SessionEnd =
  | { status: "succeeded"; data: SharedData; riskScore: number }
  | {
      status: "failed";
      failureCode: FailureCode;
      unmetRequirement: RequirementName | null;
      riskScore: number | null;
    }
  | { status: "cancelled"; reason: CancelReason };

/**
 * Ends a session in every way but expiry, in the caller's transaction. The caller has locked the row and
 * decided that it may end; `session` is that row, with the deciding try counted. Pass `targets` if this
 * transaction has read them.
 */
export async function endSession(
  core: Core,
  tx: Tx,
  session: SessionRow,
  end: SessionEnd,
  actor: Actor,
  now: Date,
  targets: readonly PublishTarget[] | null = null,
): Promise<SessionRow> {
  const { outcome, attempt, event, auditDetails, counted } = recordsOf(end, session, now);
  tx.write(
    sessionMove(session.id, {
      from: session.status,
      to: end.status,
      ...outcome,
      completedAt: now,
      // A cancelled session is written without its steps, which is cheaper: no try was counted.
      ...(end.status === "cancelled" ? {} : { steps: session.steps }),
      now,
    }),
  );
  // The row is locked, so it will equal what is written here and need not be read again.
  const ended: SessionRow = {
    ...session,
    status: end.status,
    ...outcome,
    completedAt: now,
    updatedAt: now,
  };
  if (session.status === "in_progress")
    tx.write(openAttemptEnd(session.id, { status: end.status, ...attempt, now }));
  tx.write(outcomeWrite(session, counted));
  if (session.status === "succeeded" && session.completedAt !== null) {
    const { completedAt, evidence } = session;
    const method = evidence && methodOf(evidence);
    tx.write(outcomeWrite(session, { status: "succeeded", completedAt, method }, -1));
  }
  await publishEvents(core, tx, now, [{ session: ended, ...event }], targets);
  await recordAudit(tx, now, {
    ...tenantOf(session),
    event: `session.${end.status}`,
    actor,
    targetId: session.id,
    details: auditDetails,
  });
  tx.notify(sessionChannel, session.id);
  return ended;
}

type Records = {
  outcome: Pick<SessionRow, "failureCode" | "unmetRequirement" | "evidence">;
  attempt: { failureCode: AttemptFailureCode | null; riskScore: number | null };
  event: SessionEvent;
  auditDetails: Record<string, string>;
  counted: OutcomeOfDay;
};

/** What each kind of end writes to session, attempt, event, audit log and the day's figures. */
function recordsOf(end: SessionEnd, session: SessionRow, now: Date): Records {
  const known = knownOf(session);
  const returned = { return_code_sha256: known.return_code_sha256 };
  switch (end.status) {
    case "succeeded":
      return {
        outcome: { failureCode: null, unmetRequirement: null, evidence: end.data.evidence },
        attempt: { failureCode: null, riskScore: end.riskScore },
        event: { type: "verification.session.succeeded", data: { ...end.data, ...returned } },
        auditDetails: {},
        counted: { status: "succeeded", completedAt: now, method: methodOf(end.data.evidence) },
      };
    case "failed":
      return {
        outcome: { failureCode: end.failureCode, unmetRequirement: end.unmetRequirement, evidence: null },
        attempt: { failureCode: end.failureCode, riskScore: end.riskScore },
        event: {
          type: "verification.session.failed",
          data: { failure_code: end.failureCode, unmet_requirement: end.unmetRequirement, ...known },
        },
        auditDetails: {
          failure_code: end.failureCode,
          ...(end.unmetRequirement === null ? {} : { unmet_requirement: end.unmetRequirement }),
        },
        counted: { status: "failed", failureCode: end.failureCode },
      };
    case "cancelled":
      return {
        outcome: { failureCode: null, unmetRequirement: null, evidence: null },
        attempt: { failureCode: "session_cancelled", riskScore: null },
        event: {
          type: "verification.session.cancelled",
          data: { outcome: "not_verified", reason: end.reason, ...known },
        },
        auditDetails: { reason: end.reason },
        counted: { status: "cancelled" },
      };
  }
}

/** What the event of an end without a success says of the session itself. */
export function knownOf(session: Parameters<typeof triesOf>[0] & Parameters<typeof returnCodeSha256>[0]) {
  return { ...triesOf(session), return_code_sha256: returnCodeSha256(session) };
}
