import { triesAllowed } from "@assay/contract/facts";
import { readDg1 } from "@assay/emrtd/lds/dg1";
import { personActor, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { openDocumentIdKey } from "../organizations/document-id-key.ts";
import { finishSession } from "../sessions/finish-session.ts";
import { useTry } from "../sessions/use-try.ts";
import { markChipPassed } from "./chip-passed.store.ts";
import { buildClaims, serviceDocumentId } from "./claims.ts";
import type { Verdict } from "./verify-flow.ts";

export type TryWritten =
  | { written: "counted" }
  | { written: "session_failed" }
  /** The session has ended or expired, or the attempt is another device's by now. */
  | { written: "session_over" }
  /** Another process has counted a try of this attempt meanwhile: what this one knows is out of date. */
  | { written: "out_of_date" };

type Attempt = { sessionId: string; attemptId: string; organizationId: string };

/** Writes down a try that was judged; the last one that fails ends the session. */
export async function writeTry(
  core: Core,
  attempt: Attempt,
  judged: { step: "chip" | "face"; number: number; verdict: Verdict; riskScore: number },
): Promise<TryWritten> {
  const { step, number, verdict, riskScore } = judged;
  const now = core.clock.now();
  return core.db.transaction(async (tx): Promise<TryWritten> => {
    if (number > triesAllowed && verdict.failureCode !== null) {
      // The chip had passed as the last try, had to be read again, and failed: there is no try left to give.
      const outcome = { status: "failed", failureCode: verdict.failureCode, riskScore } as const;
      const { result } = await finishSession(core, tx, { ...attempt, outcome, now });
      return { written: result === "finished" ? "session_failed" : "session_over" };
    }
    const result = await useTry(core, tx, {
      ...attempt,
      kind: step === "chip" ? "nfc" : "liveness",
      number,
      failureCode: verdict.failureCode,
      riskScore,
      now,
    });
    if (result.result === "refused")
      return { written: result.why === "already_counted" ? "out_of_date" : "session_over" };
    if (step === "face" && verdict.failureCode !== null)
      await recordAudit(tx, now, {
        organizationId: attempt.organizationId,
        event: "session.face_rejected",
        actor: personActor,
        targetId: attempt.sessionId,
        details: {
          attempt_id: attempt.attemptId,
          failure_code: verdict.failureCode,
          reasons: verdict.reasons ?? [],
        },
      });
    if (result.result === "session_failed") return { written: "session_failed" };
    if (step === "chip" && verdict.failureCode === null) await markChipPassed(tx, attempt.sessionId, now);
    return { written: "counted" };
  });
}

/**
 * The chip and the face have passed: the face try, the success and the sealed claims are written together or not at all. The claims exist
 * in this function only.
 */
export async function writeSuccess(
  core: Core,
  attempt: Attempt & { selectedFieldKeys: readonly string[] },
  passed: { dg1: Uint8Array; faceTry: number; riskScore: number },
): Promise<TryWritten> {
  const { sessionId, attemptId, organizationId, selectedFieldKeys } = attempt;
  const now = core.clock.now();
  const mrz = readDg1(passed.dg1, now);
  const key = await openDocumentIdKey(core, organizationId);
  const claims = buildClaims(mrz, {
    fieldKeys: selectedFieldKeys,
    documentId: () => serviceDocumentId(key, organizationId, mrz),
    now,
  });
  key.fill(0);
  return core.db.transaction(async (tx): Promise<TryWritten> => {
    const counted = await useTry(core, tx, {
      sessionId,
      attemptId,
      kind: "liveness",
      number: passed.faceTry,
      failureCode: null,
      riskScore: passed.riskScore,
      now,
    });
    if (counted.result !== "counted")
      return {
        written:
          counted.result === "refused" && counted.why === "already_counted" ? "out_of_date" : "session_over",
      };
    const data = { claims, selected_field_keys: [...selectedFieldKeys] };
    const finished = await finishSession(core, tx, {
      sessionId,
      attemptId,
      outcome: { status: "succeeded", data, riskScore: passed.riskScore },
      now,
    });
    // Both decisions are made on the same locked row.
    if (finished.result !== "finished") throw new Error("a session took a try and refused its outcome");
    return { written: "counted" };
  });
}
