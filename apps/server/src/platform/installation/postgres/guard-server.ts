import { setTimeout as wait } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { connect } from "./connection.ts";
import { endServer, forced } from "./end-server.ts";
import { readLockFile } from "./lock-file.ts";
import { isRecovering } from "./processes.ts";

const guardEveryMs = 2_000;
/** Every connection costs the server a process, so only every fifth check opens one, until one fails. */
const connectEveryRounds = 5;

/**
 * How long the guard's own connection may take to close. It does not wait for a server that does not answer.
 */
export const guardLeavesMs = 1_000;

/**
 * Watches a running server for its owner. A server that another process is stopping, or that accepts no
 * connections, is ended and then restarted. Three connections in a row must fail, because one may fail by
 * chance on an overloaded machine. A recovering server is left alone.
 */
export async function guardServer(
  cluster: Cluster,
  pid: number,
  ended: () => boolean,
  over: AbortSignal,
): Promise<void> {
  let stopping = 0;
  let unanswered = 0;
  for (let round = 1; !over.aborted; round++) {
    await wait(guardEveryMs, undefined, { ref: false, signal: over }).catch(() => {});
    if (over.aborted || ended()) return;
    const lock = await readLockFile(cluster.data).catch(() => null);
    stopping = lock?.pid === pid && lock.status === "stopping" ? stopping + 1 : 0;
    if (unanswered > 0 || round % connectEveryRounds === 0) {
      const client = await connect(cluster, { patienceMs: 10_000 });
      if (typeof client === "object") await client.end().catch(() => {});
      unanswered = client === "silent" || client === "busy" ? unanswered + 1 : 0;
    }
    if (over.aborted || ended()) return;
    if (stopping < 2 && (unanswered < 3 || isRecovering(cluster, pid))) continue;
    const state = stopping < 2 ? "does not answer" : "is stopping, although it is needed";
    cluster.options.log(`PostgreSQL with process id ${pid} ${state}; ending it`, "error");
    await endServer(cluster, pid, ended, forced);
    return;
  }
}
