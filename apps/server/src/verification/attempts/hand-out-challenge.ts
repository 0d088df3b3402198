import type { AttemptId, SessionId } from "@assay/contract/ids";
import type { Db } from "../../platform/db/db.ts";
import { type ChallengeAnswer, countChallenge } from "./attempt-socket.store.ts";
import { tellProgress } from "./report-progress.ts";
import { breakdownsAllowed, freeChallenges } from "./verify-flow.ts";

/**
 * Counts a challenge before the device sees it, together with the step that begins with it. The count is in the database, so that going to another process, or to two at
 * once, is no way to be given more of them.
 */
export function handOutChallenge(
  db: Db,
  attempt: { sessionId: SessionId; attemptId: AttemptId; now: Date },
): Promise<ChallengeAnswer> {
  const step = "face_capture";
  return db.transaction(async (tx) => {
    const answer = await countChallenge(tx, { ...attempt, step, freeChallenges, breakdownsAllowed });
    if (answer === "handed_out") tellProgress(tx, { ...attempt, step });
    return answer;
  });
}
