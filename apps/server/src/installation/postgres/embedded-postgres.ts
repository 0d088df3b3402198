import { setTimeout as wait } from "node:timers/promises";
import { database, port, socketUrl, user } from "./connection.ts";
import { holdServer } from "./hold-server.ts";
import { type EmbeddedPostgresOptions, preparePlace } from "./place.ts";

export type EmbeddedPostgres = {
  connection: { host: string; port: number; user: string; database: string };
  url: string;
  /** Stops the server when this process started it (or its starter is gone); otherwise only lets go of it. */
  stop(): Promise<void>;
  /** What a person should know about how the server runs here, one sentence each. */
  notes: readonly string[];
};

/**
 * Makes sure that a PostgreSQL serves `dataDir`, and connects to it. A server that already runs there is used as it is, so
 * any number of processes may call this for one folder. The process that started the server is its owner, and ends it.
 * When the server goes away while it is still wanted here, it is started again at the same address.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const place = await preparePlace(options);
  const stopping = new AbortController();
  let held = await holdServer(place, stopping.signal);

  const keepAlive = async (): Promise<void> => {
    let failures = 0;
    let heldSince = Date.now();
    for (;;) {
      await held.gone;
      // A server that ends as soon as it runs is a failure like one that does not start.
      if (Date.now() - heldSince > 10_000) failures = 0;
      if (stopping.signal.aborted) return;
      options.log(
        held.kind === "owner"
          ? "PostgreSQL ended unexpectedly; starting it again"
          : "the connection to PostgreSQL was lost; joining it again, or starting it",
        "warn",
      );
      if (failures > 0) {
        const pauseMs = Math.min(500 * 2 ** failures, 30_000);
        await wait(pauseMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      }
      failures++;
      try {
        held = await holdServer(place, stopping.signal);
        heldSince = Date.now();
        if (stopping.signal.aborted) return await held.letGo();
      } catch (error) {
        if (stopping.signal.aborted) return;
        options.log(`PostgreSQL could not be started: ${(error as Error).message}`, "error");
      }
    }
  };
  const watching = keepAlive();

  const host = place.socketFolder;
  return {
    connection: { host, port, user, database },
    url: socketUrl(host, database),
    notes: place.runner.notes,
    async stop() {
      if (!stopping.signal.aborted) {
        stopping.abort();
        await held.letGo();
      }
      await watching;
    },
  };
}
