import { personActor } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { endSession, type SessionEnd } from "./end-session.ts";
import { lockOpenAttempt, lockSession, stateOf } from "./session.store.ts";
import { decideFinish, type Refusal } from "./session.ts";

export type FinishResult =
  | { result: "finished" }
  | { result: "refused"; why: Refusal | "not_found" | "not_your_turn" };

export type Outcome = Exclude<SessionEnd, { status: "cancelled" }>;

/**
 * The checks are done. Refused when the session has ended or expired meanwhile, or another device has taken it over: then
 * nothing is written, and the claims in `outcome` go nowhere.
 */
export async function finishSession(
  core: Core,
  tx: Tx,
  finish: { sessionId: string; attemptId: string; outcome: Outcome; now: Date },
): Promise<FinishResult> {
  const { sessionId, outcome, now } = finish;
  const session = await lockSession(tx, sessionId, null);
  if (session === null) return { result: "refused", why: "not_found" };
  const attempt = await lockOpenAttempt(tx, sessionId);
  const decision = decideFinish(stateOf(session), attempt, finish.attemptId, now);
  if (decision.move === "refuse") return { result: "refused", why: decision.why };
  await endSession(core, tx, session, outcome, personActor, now);
  return { result: "finished" };
}
