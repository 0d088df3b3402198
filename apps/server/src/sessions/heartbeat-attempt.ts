import type { Queryable } from "../db/db.ts";
import { touchAttempt } from "./session.store.ts";

/** The device was heard from: the session cannot be cancelled for another minute. False when the attempt is over. */
export function heartbeatAttempt(db: Queryable, attemptId: string, now: Date): Promise<boolean> {
  return touchAttempt(db, attemptId, now);
}
