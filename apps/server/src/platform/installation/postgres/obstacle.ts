import type { Cluster } from "./cluster.ts";
import type { NoConnection } from "./connection.ts";
import { endServer, forced } from "./end-server.ts";
import type { LockFile } from "./lock-file.ts";
import { readOwner } from "./owner-file.ts";
import { isRecovering, isServerOf, orphansOf, sendSignal } from "./processes.ts";
import { Waiting } from "./waiting.ts";

/**
 * How long a server without an owner may take to end by itself. With half, servers that write their last
 * checkpoint are cut short and must recover. With twice, every start after such a crash waits longer.
 */
const goneOwnerPatienceMs = 2_000;
/** A live owner ends a stopping server within 50 seconds (`orderly`), so it gets the time to do so. */
const livingOwnerPatienceMs = 60_000;
/**
 * Killed processes release their shared memory within milliseconds. One that takes this long did not notice
 * that its postmaster died, and never will.
 */
const orphanPatienceMs = 3_000;

/**
 * What blocks a start: a server that can be neither joined nor replaced yet, or processes that a killed
 * server left. Those without a live owner are ended after a while. Even SIGKILL loses nothing that was
 * acknowledged: the next start replays the write-ahead log.
 */
export class Obstacle {
  readonly #cluster: Cluster;
  #pid = 0;
  #waiting: Waiting;
  #leaving: Promise<void> | null = null;
  #orphansSince = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#waiting = new Waiting(cluster.options.log);
  }

  /** The lock file names a server that accepts no connection. */
  async server(lock: LockFile, answer: NoConnection): Promise<void> {
    const cluster = this.#cluster;
    if (lock.pid !== this.#pid) {
      this.#pid = lock.pid;
      this.#waiting = new Waiting(cluster.options.log);
      this.#leaving = null;
    }
    const owner = await readOwner(cluster);
    const unowned = !owner.lives || cluster.adoptedPid === lock.pid;
    const state =
      answer === "full"
        ? "has no connection left"
        : lock.status === "stopping"
          ? "is stopping"
          : answer === "busy"
            ? "is starting or recovering"
            : answer === "refused"
              ? "rejects the passwords of this folder"
              : "does not answer";
    const whose = owner.lives ? `process ${owner.pid} owns it` : "the process that started it is gone";
    this.#waiting.report(`PostgreSQL with process id ${lock.pid} ${state}; ${whose}`);
    if (this.#leaving !== null || answer === "full" || !isServerOf(cluster, lock.pid)) return;
    if (lock.status === "stopping") {
      if (this.#waiting.milliseconds < (unowned ? goneOwnerPatienceMs : livingOwnerPatienceMs)) return;
    } else {
      // A live owner notices by itself. A recovering server is left alone: if ended, it would start the
      // recovery again.
      if (!unowned || this.#waiting.milliseconds < 2 * goneOwnerPatienceMs || isRecovering(cluster, lock.pid))
        return;
    }
    cluster.options.log(`PostgreSQL with process id ${lock.pid} ${state}; ${whose}; ending it`, "warn");
    this.#leaving = endServer(cluster, lock.pid, () => !isServerOf(cluster, lock.pid), forced);
    this.#leaving.catch(() => {});
  }

  /**
   * The server did not start. If orphaned processes of an earlier server are the reason, they are killed
   * after a moment.
   */
  refusal(reason: string): void {
    this.#waiting.report(`PostgreSQL does not start yet: ${reason}`);
    if (!/shared memory block/.test(reason)) return;
    if (this.#orphansSince === 0) this.#orphansSince = Date.now();
    if (Date.now() - this.#orphansSince < orphanPatienceMs) return;
    for (const { pid } of orphansOf(this.#cluster)) {
      this.#cluster.options.log(
        `process ${pid} of a dead PostgreSQL server does not end; killing it`,
        "warn",
      );
      sendSignal(pid, "SIGKILL");
    }
  }
}
