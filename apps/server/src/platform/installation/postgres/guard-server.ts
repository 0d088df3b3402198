import { setTimeout as wait } from "node:timers/promises";
import { connect } from "./connection.ts";
import { endServer, hurried } from "./end-server.ts";
import { readLockFile } from "./lock-file.ts";
import type { Place } from "./place.ts";
import { isRecovering } from "./processes.ts";

const guardEveryMs = 2_000;
/** Every connection costs the server a process, so only every fifth look includes one, until one fails. */
const connectEveryRounds = 5;

/** A connection that the guard has just opened is given this long to end in order. A server that does not answer is not waited for. */
export const guardLeavesMs = 1_000;

/**
 * Watches a running server for its owner. A server that somebody else told to stop, or that gives no connection any more, is
 * ended; its end is noticed, and it is started again like one that was killed. Three connections in a row have to fail,
 * because on an overloaded machine one may fail by chance. A server that recovers is left alone.
 */
export async function guardServer(
  place: Place,
  pid: number,
  ended: () => boolean,
  over: AbortSignal,
): Promise<void> {
  let stopping = 0;
  let unanswered = 0;
  for (let round = 1; !over.aborted; round++) {
    await wait(guardEveryMs, undefined, { ref: false, signal: over }).catch(() => {});
    if (over.aborted || ended()) return;
    const lock = await readLockFile(place.data).catch(() => null);
    stopping = lock?.pid === pid && lock.status === "stopping" ? stopping + 1 : 0;
    if (unanswered > 0 || round % connectEveryRounds === 0) {
      const client = await connect(place, { patienceMs: 10_000 });
      if (typeof client === "object") await client.end().catch(() => {});
      unanswered = client === "silent" || client === "busy" ? unanswered + 1 : 0;
    }
    if (over.aborted || ended()) return;
    if (stopping < 2 && (unanswered < 3 || isRecovering(place, pid))) continue;
    const state = stopping < 2 ? "does not answer" : "is stopping, though it is needed";
    place.options.log(`PostgreSQL with process id ${pid} ${state}; ending it`, "error");
    await endServer(place, pid, ended, hurried);
    return;
  }
}
