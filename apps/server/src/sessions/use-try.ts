import type { FailureCode } from "@assay/contract/sessions";
import { personActor } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { endSession } from "./end-session.ts";
import { countTry, lockOpenAttempt, lockSession, setRiskScore, stateOf } from "./session.store.ts";
import { decideTry, type Refusal, type TryKind } from "./session.ts";

export type TryResult =
  | { result: "counted"; left: number }
  /** It was the last try and it failed: the session has ended. */
  | { result: "session_failed" }
  | { result: "refused"; why: Refusal | "not_found" | "not_your_turn" | "already_counted" };

/**
 * Counts a try that was judged, whether it passed (`failureCode` null) or failed. Call it only with a verdict: a fault on
 * our side uses up nothing. `number` counts from 1 within its kind, so a report that is repeated after a lost answer is
 * refused instead of counted twice.
 */
export async function useTry(
  core: Core,
  tx: Tx,
  judged: {
    sessionId: string;
    attemptId: string;
    kind: TryKind;
    number: number;
    failureCode: FailureCode | null;
    riskScore?: number;
    now: Date;
  },
): Promise<TryResult> {
  const { sessionId, attemptId, now } = judged;
  const session = await lockSession(tx, sessionId, null);
  if (session === null) return { result: "refused", why: "not_found" };
  const attempt = await lockOpenAttempt(tx, sessionId);
  const decision = decideTry(stateOf(session), attempt, attemptId, judged, now);
  if (decision.move === "refuse") return { result: "refused", why: decision.why };
  const counted = await countTry(tx, sessionId, judged.kind, judged.number, now);
  if (decision.move === "count") {
    if (judged.riskScore !== undefined) await setRiskScore(tx, attemptId, judged.riskScore, now);
    return { result: "counted", left: decision.left };
  }
  const { failureCode } = decision;
  await endSession(
    core,
    tx,
    counted,
    { status: "failed", failureCode, riskScore: judged.riskScore ?? null },
    personActor,
    now,
  );
  return { result: "session_failed" };
}
