import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { port } from "./address.ts";
import { ensureDataFolder } from "./data-folder.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { joinServer } from "./join-server.ts";
import { disownLockFile, readLockFile } from "./lock-file.ts";
import { Obstacle } from "./obstacle.ts";
import type { Place } from "./place.ts";
import { isServerOf, readPostgresProcess } from "./processes.ts";
import { type Hold, startServer } from "./start-server.ts";

const startTimeoutMs = 300_000;

/** Joins the running server of this place, or starts one; waits while something is in the way. */
export async function holdServer(place: Place, cancel: AbortSignal): Promise<Hold> {
  const deadline = Date.now() + startTimeoutMs;
  const obstacle = new Obstacle(place);
  let reason = "";
  while (Date.now() < deadline) {
    cancel.throwIfAborted();
    const lock = await readLockFile(place.data);
    if (lock !== null) {
      const joined = await joinServer(place, lock);
      if (typeof joined === "object") return joined;
      reason = `the server with process id ${lock.pid} does not answer`;
      // The server is starting or stopping, or it runs and is about to listen.
      if (joined !== "silent" || isServerOf(place, lock.pid)) {
        await obstacle.server(lock, joined);
        await wait(50);
        continue;
      }
    }
    await ensureDataFolder(place);
    await disownLockFile(place, path.join(place.data, "postmaster.pid"), (pid) => isServerOf(place, pid));
    // With a lock file, nothing answered at its socket. Without one, the server of another data folder may
    // use the socket.
    const atSocket = (pid: number) =>
      lock === null ? readPostgresProcess(pid) !== null : isServerOf(place, pid);
    await disownLockFile(place, path.join(place.socketFolder, `.s.PGSQL.${port}.lock`), atSocket);
    const started = await startServer(place);
    if (typeof started === "object") return started;
    reason = started;
    obstacle.refusal(started);
    await wait(100);
  }
  throw new EmbeddedPostgresError(`PostgreSQL could not be started in ${place.data}: ${reason}.`);
}
