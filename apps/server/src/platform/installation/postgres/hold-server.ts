import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ExplainedError } from "../../lib/explained-error.ts";
import { port } from "./address.ts";
import type { Cluster } from "./cluster.ts";
import { ensureDataFolder } from "./data-folder.ts";
import { joinServer } from "./join-server.ts";
import { disownLockFile, readLockFile } from "./lock-file.ts";
import { Obstacle } from "./obstacle.ts";
import { isServerOf, readPostgresProcess } from "./processes.ts";
import { type Hold, startServer } from "./start-server.ts";

const startTimeoutMs = 300_000;

/** Joins the running server of this cluster, or starts one; waits while something is in the way. */
export async function holdServer(cluster: Cluster, cancel: AbortSignal): Promise<Hold> {
  const deadline = Date.now() + startTimeoutMs;
  const obstacle = new Obstacle(cluster);
  let reason = "";
  while (Date.now() < deadline) {
    cancel.throwIfAborted();
    const lock = await readLockFile(cluster.data);
    if (lock !== null) {
      const joined = await joinServer(cluster, lock);
      if (typeof joined === "object") return joined;
      reason = `the server with process id ${lock.pid} does not answer`;
      // The server is starting or stopping, or it runs and is about to listen.
      if (joined !== "silent" || isServerOf(cluster, lock.pid)) {
        await obstacle.server(lock, joined);
        await wait(50);
        continue;
      }
    }
    await ensureDataFolder(cluster);
    await disownLockFile(cluster, path.join(cluster.data, "postmaster.pid"), (pid) =>
      isServerOf(cluster, pid),
    );
    // With a lock file, nothing answered at its socket. Without one, the server of another data folder may
    // use the socket.
    const atSocket = (pid: number) =>
      lock === null ? readPostgresProcess(pid) !== null : isServerOf(cluster, pid);
    await disownLockFile(cluster, path.join(cluster.socketFolder, `.s.PGSQL.${port}.lock`), atSocket);
    const started = await startServer(cluster);
    if (typeof started === "object") return started;
    reason = started;
    obstacle.refusal(started);
    await wait(100);
  }
  throw new ExplainedError(`PostgreSQL could not be started in ${cluster.data}: ${reason}.`);
}
