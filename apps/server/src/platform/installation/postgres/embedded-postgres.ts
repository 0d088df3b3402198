import { setTimeout as wait } from "node:timers/promises";
import { ExplainedError } from "../../lib/explained-error.ts";
import { adminRole, serviceRole, socketUrl } from "./address.ts";
import { type EmbeddedPostgresOptions, prepareCluster } from "./cluster.ts";
import { holdServer } from "./hold-server.ts";
import { onceAMinute } from "./repeated-lines.ts";

export type EmbeddedPostgres = {
  /** The folder of its socket. */
  host: string;
  /** As the role of the service, which owns the database and is not a superuser. */
  url: string;
  /** As the superuser, for a backup or a replica. */
  adminUrl: string;
  /** Stops the server if this process owns it, or its owner is gone; otherwise only disconnects. */
  stop(): Promise<void>;
  /** What a person should know about this server, one sentence each. */
  notes: readonly string[];
};

/**
 * Ensures that a PostgreSQL server runs for `dataDir`, and connects to it. A running server is reused, so any
 * number of processes may call this for one folder. The process that started the server owns it and stops it.
 * If the server ends while it is needed here, it is started again at the same address.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = onceAMinute(options.log);
  const cluster = await prepareCluster({ ...options, log });
  const stopping = new AbortController();
  let held = await holdServer(cluster, stopping.signal);

  /**
   * Retries with increasing pauses until the server is held again or no longer needed. Returns the total
   * number of tries.
   */
  const holdAgain = async (triesBefore: number): Promise<number> => {
    for (let tries = triesBefore; ; tries++) {
      if (tries > 0) {
        const pauseMs = Math.min(500 * 2 ** tries, 30_000);
        await wait(pauseMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      }
      if (stopping.signal.aborted) return tries;
      try {
        held = await holdServer(cluster, stopping.signal);
        return tries + 1;
      } catch (error) {
        if (!stopping.signal.aborted)
          log(`PostgreSQL could not be started: ${(error as Error).message}`, "error");
      }
    }
  };
  const keepAlive = async (): Promise<void> => {
    let tries = 0;
    for (;;) {
      const heldSince = Date.now();
      await held.gone;
      if (stopping.signal.aborted) return;
      log(
        held.kind === "owner"
          ? "PostgreSQL ended unexpectedly; starting it again"
          : "the connection to PostgreSQL was lost; joining it again, or starting it",
        "warn",
      );
      // A server that ends right after its start counts as one that did not start.
      if (Date.now() - heldSince > 10_000) tries = 0;
      const gone = held;
      tries = await holdAgain(tries);
      if (stopping.signal.aborted) return held === gone ? undefined : held.release();
    }
  };
  const watching = keepAlive();

  const host = cluster.socketFolder;
  const { passwords } = cluster;
  if (passwords === null) throw new ExplainedError(`${cluster.data} has no passwords.`);
  return {
    host,
    url: socketUrl(host, serviceRole, passwords.service),
    adminUrl: socketUrl(host, adminRole, passwords.admin),
    notes: cluster.runner.notes,
    async stop() {
      if (!stopping.signal.aborted) {
        stopping.abort();
        await held.release();
      }
      await watching;
    },
  };
}
