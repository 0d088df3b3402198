import type { AttemptId, OrganizationId, SessionId } from "@assay/contract/ids";
import { publishTargets } from "../../delivery/webhooks/endpoint.store.ts";
import { personActor, recordAudit } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { openDocumentIdKey } from "../../tenants/organizations/document-id-key.ts";
import type { JudgedTry, Proof, Step } from "../evidence/kinds.ts";
import { type SharedData, sharedData } from "../evidence/shared-data.ts";
import { viewVerdict } from "../evidence/verdict.ts";
import { endSession } from "../sessions/end-session.ts";
import {
  heldOpenAttempt,
  heldSession,
  type SessionRow,
  setVerdict,
  stateOf,
  withTryCounted,
  writeSteps,
} from "../sessions/session.store.ts";
import { decideTry } from "../sessions/session.ts";
import type { TryRecorded } from "./try.ts";

export type TriedAttempt = {
  sessionId: SessionId;
  attemptId: AttemptId;
  organizationId: OrganizationId;
  sandbox: boolean;
  /** What the person agreed to share. */
  selectedFieldKeys: readonly string[];
};

/**
 * Records a judged try and, if it decides the session, the outcome, sealed claims and event, in one
 * transaction that locks session and attempt. Not for internal faults: they use up no try. `spend` runs after
 * the lock; if it returns false, the input was already used and nothing is counted.
 */
export async function recordTry<S extends Step>(
  core: Core,
  attempt: TriedAttempt,
  judged: JudgedTry & { step: S },
  spend: (tx: Tx) => Promise<boolean> = async () => true,
): Promise<TryRecorded<S>> {
  const now = core.clock.now();
  const { proof } = judged;
  const shared = proof === undefined ? null : await share(core, attempt, proof, now);
  return core.db.transaction(async (tx): Promise<TryRecorded<S>> => {
    const tenant = tenantOf({ organizationId: attempt.organizationId, sandbox: attempt.sandbox });
    const held = [heldSession(tenant, attempt.sessionId), heldOpenAttempt(attempt.sessionId)] as const;
    // A try with a proof ends the session, unless it has already ended.
    const [session, open, targets] =
      shared === null
        ? [...(await tx.ask(...held)), null]
        : await tx.ask(...held, publishTargets([attempt.organizationId]));
    if (session === null) return { kind: "session_over" };
    if (!(await spend(tx))) return { kind: "superseded" };
    const { step, verdict, riskScore } = judged;
    const number = judged.number === "next" ? (session.steps[step]?.tries ?? 0) + 1 : judged.number;
    const seen = viewVerdict(verdict);
    const why = { failureCode: seen.failure_code, unmetRequirement: seen.unmet_requirement };
    const decision = decideTry(
      stateOf(session),
      open,
      attempt.attemptId,
      { step, number, failureCode: verdict.failureCode },
      now,
    );
    const counted = withTryCounted(session, { step, number, passed: verdict.failureCode === null }, now);
    switch (decision.kind) {
      case "refuse":
        return { kind: decision.why === "already_counted" ? "superseded" : "session_over" };
      case "count":
        writeSteps(tx, counted, now);
        setVerdict(tx, attempt.attemptId, { step: decision.step, riskScore, ...why }, now);
        await auditTry(tx, session, attempt.attemptId, judged, now);
        return { kind: "counted", step, verdict };
      case "fail": {
        const end = {
          status: "failed",
          failureCode: decision.failureCode,
          unmetRequirement: why.unmetRequirement,
          riskScore,
        } as const;
        await endSession(core, tx, decision.counted ? counted : session, end, personActor, now);
        await auditTry(tx, session, attempt.attemptId, judged, now);
        return { kind: "session_ended", verdict };
      }
      case "succeed": {
        if (shared === null) throw new Error("a session was to succeed without a proof");
        const end = { status: "succeeded", data: shared, riskScore } as const;
        await endSession(core, tx, counted, end, personActor, now, targets);
        await auditTry(tx, session, attempt.attemptId, judged, now);
        return { kind: "session_ended", verdict };
      }
    }
  });
}

/** Claims exist only in this return value, in the arguments of `endSession` and in the sealed payload. */
async function share(
  core: Core,
  { organizationId, selectedFieldKeys: fieldKeys }: TriedAttempt,
  proof: Proof,
  now: Date,
): Promise<SharedData> {
  const documentIdKey = await openDocumentIdKey(core, organizationId);
  try {
    return sharedData(proof, { fieldKeys, organizationId, documentIdKey, now });
  } finally {
    documentIdKey.fill(0);
  }
}

async function auditTry(
  tx: Tx,
  session: SessionRow,
  attemptId: AttemptId,
  { audit }: JudgedTry,
  now: Date,
): Promise<void> {
  if (audit === undefined) return;
  await recordAudit(tx, now, {
    ...tenantOf(session),
    event: audit.event,
    actor: personActor,
    targetId: session.id,
    details: { attempt_id: attemptId, ...audit.details },
  });
}
