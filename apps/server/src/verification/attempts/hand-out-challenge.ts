import type { AttemptId, SessionId } from "@assay/contract/ids";
import type { Db } from "../../platform/db/db.ts";
import { type ChallengeAnswer, countChallenge } from "./attempt-socket.store.ts";
import { notifyProgress } from "./report-progress.ts";
import { maxBreakdowns, maxFreeChallenges } from "./verify-flow.ts";

/**
 * Counts a challenge, and stores the step that it begins, before the device sees it. The count is in the
 * database, so connecting to other processes yields no additional challenges.
 */
export function handOutChallenge(
  db: Db,
  attempt: { sessionId: SessionId; attemptId: AttemptId; now: Date },
): Promise<ChallengeAnswer> {
  const step = "face_capture";
  return db.transaction(async (tx) => {
    const answer = await countChallenge(tx, { ...attempt, step, maxFreeChallenges, maxBreakdowns });
    if (answer === "handed_out") notifyProgress(tx, { ...attempt, step });
    return answer;
  });
}
