import type { AttemptId, SessionId } from "@assay/contract/ids";
import type { Db, Tx } from "../../platform/db/db.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { setStep } from "./attempt-socket.store.ts";

/** NOTIFY channel. Payload: `{"session_id","attempt_id","step"}`, never the device's data. */
export const verifyProgressChannel = "verify_progress";

const stepPattern = /^[a-z_]{1,40}$/;

/**
 * Stores the step that the device has reached, for pages that load later, and notifies open pages at any
 * process. Does nothing if the attempt is over.
 */
export async function reportProgress(
  db: Db,
  progress: { sessionId: SessionId; attemptId: AttemptId; step: string; now: Date },
): Promise<void> {
  const { sessionId, attemptId, step, now } = progress;
  if (!stepPattern.test(step)) throw new Error("the name of a step is not a plain word");
  await db.transaction(async (tx) => {
    if (!(await setStep(tx, { sessionId, attemptId }, step, now))) return;
    notifyProgress(tx, { sessionId, attemptId, step });
  });
}

/** For a transaction that has stored the step. */
export function notifyProgress(
  tx: Tx,
  { sessionId, attemptId, step }: { sessionId: SessionId; attemptId: AttemptId; step: string },
): void {
  tx.notify(verifyProgressChannel, JSON.stringify({ session_id: sessionId, attempt_id: attemptId, step }));
}

/** The session that a notification is about, or null: then anything may have changed. */
export function progressSession(payload: string): SessionId | null {
  try {
    const { session_id: id } = JSON.parse(payload) as { session_id?: unknown };
    return typeof id === "string" ? knownId(id) : null;
  } catch {
    return null;
  }
}
