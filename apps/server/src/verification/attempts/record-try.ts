import type { AttemptId, OrganizationId, SessionId } from "@assay/contract/ids";
import type { FaceCheck } from "@assay/contract/sessions";
import { publishTargets } from "../../delivery/webhooks/endpoint.store.ts";
import { personActor, recordAudit } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { openDocumentIdKey } from "../../tenants/organizations/document-id-key.ts";
import { endSession, type SharedData } from "../sessions/end-session.ts";
import {
  countTry,
  heldOpenAttempt,
  heldSession,
  type SessionRow,
  setVerdict,
  stateOf,
  withTryCounted,
} from "../sessions/session.store.ts";
import { decideTry } from "../sessions/session.ts";
import { sharedData } from "./claims.ts";
import type { Proof } from "./proof.ts";
import { type DeviceTrust, type JudgedTry, type TryRecorded, toldOf } from "./try.ts";

export type TriedAttempt = {
  sessionId: SessionId;
  attemptId: AttemptId;
  organizationId: OrganizationId;
  sandbox: boolean;
  /** What the person agreed to share. */
  selectedFieldKeys: readonly string[];
};

/**
 * Records a try that was judged, in one transaction that holds the session and its attempt: the try is counted, and where it decides the
 * session, the outcome, the sealed claims and the event are written with it or not at all. Call it only with a verdict: a fault on our
 * side uses up nothing.
 */
export async function recordTry(core: Core, attempt: TriedAttempt, judged: JudgedTry): Promise<TryRecorded> {
  const now = core.clock.now();
  const shared = "proof" in judged ? await share(core, attempt, judged, now) : null;
  return core.db.transaction(async (tx): Promise<TryRecorded> => {
    const tenant = tenantOf({ organizationId: attempt.organizationId, sandbox: attempt.sandbox });
    const held = [heldSession(tenant, attempt.sessionId), heldOpenAttempt(attempt.sessionId)] as const;
    // A face that has passed ends the session, unless somebody else has ended it.
    const [session, open, targets] =
      shared === null
        ? [...(await tx.ask(...held)), null]
        : await tx.ask(...held, publishTargets([attempt.organizationId]));
    if (session === null) return { kind: "session_over" };
    const { step, number, verdict, riskScore } = judged;
    const told = toldOf(verdict);
    const why = { failureCode: told.failure_code, unmetRequirement: told.unmet_requirement };
    const decision = decideTry(
      stateOf(session),
      open,
      attempt.attemptId,
      { step, number, failureCode: verdict.failureCode },
      now,
    );
    switch (decision.move) {
      case "refuse":
        return { kind: decision.why === "already_counted" ? "superseded" : "session_over" };
      case "count":
        countTry(tx, session.id, { step, number, passed: verdict.failureCode === null }, now);
        setVerdict(tx, attempt.attemptId, { step, riskScore, ...why }, now);
        await auditRejection(tx, session, attempt.attemptId, judged, now);
        return { kind: "counted", step, verdict };
      case "fail": {
        const counted = decision.counted ? withTryCounted(session, step, number) : session;
        const end = {
          status: "failed",
          failureCode: decision.failureCode,
          unmetRequirement: why.unmetRequirement,
          riskScore,
        } as const;
        await endSession(core, tx, counted, end, personActor, now);
        await auditRejection(tx, session, attempt.attemptId, judged, now);
        return { kind: "session_ended", verdict };
      }
      case "succeed": {
        if (shared === null) throw new Error("a session was to succeed without a proof");
        const counted = withTryCounted(session, step, number);
        const end = { status: "succeeded", data: shared, riskScore } as const;
        await endSession(core, tx, counted, end, personActor, now, targets);
        await auditSigns(tx, session, attempt.attemptId, judged, now);
        return { kind: "session_ended", verdict };
      }
    }
  });
}

/** Outside of the sealed payload, claims exist in what this returns and in the arguments of `endSession` only. */
async function share(
  core: Core,
  { organizationId, selectedFieldKeys: fieldKeys }: TriedAttempt,
  { proof, device, faceChecks }: { proof: Proof; device: DeviceTrust; faceChecks: readonly FaceCheck[] },
  now: Date,
): Promise<SharedData> {
  const documentIdKey = await openDocumentIdKey(core, organizationId);
  try {
    return sharedData(proof, { fieldKeys, organizationId, documentIdKey, device, faceChecks, now });
  } finally {
    documentIdKey.fill(0);
  }
}

/** Nobody was refused; whoever looks into the session later sees why its risk is higher. */
async function auditSigns(
  tx: Tx,
  session: SessionRow,
  attemptId: AttemptId,
  judged: JudgedTry,
  now: Date,
): Promise<void> {
  const signs = "signs" in judged ? (judged.signs ?? []) : [];
  if (signs.length === 0) return;
  await recordAudit(tx, now, {
    ...tenantOf(session),
    event: "session.face_suspected",
    actor: personActor,
    targetId: session.id,
    details: { attempt_id: attemptId, signs },
  });
}

async function auditRejection(
  tx: Tx,
  session: SessionRow,
  attemptId: AttemptId,
  { step, verdict }: JudgedTry,
  now: Date,
): Promise<void> {
  if (step !== "face" || verdict.failureCode === null) return;
  await recordAudit(tx, now, {
    ...tenantOf(session),
    event: "session.face_rejected",
    actor: personActor,
    targetId: session.id,
    details: {
      attempt_id: attemptId,
      failure_code: verdict.failureCode,
      reasons: verdict.reasons ?? [],
    },
  });
}
