import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEmbeddedPostgres } from "../apps/server/src/platform/installation/postgres/embedded-postgres.ts";

/** A run makes thousands of connections and hundreds of databases, and keeps none of them for long. */
const settings = {
  // Each connection proves its password; 4,096 rounds of it would protect one that is on no disk.
  scram_iterations: "1",
  autovacuum: "off",
  wal_level: "minimal",
  bgwriter_lru_maxpages: "0",
  checkpoint_timeout: "1h",
};

/** A PostgreSQL for one test run, in a temporary folder. Its data is never flushed to disk. */
export async function startScratchPostgres(): Promise<{ url: string; close(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "assay-test-"));
  const server = await startEmbeddedPostgres({
    dataDir: path.join(folder, "data"),
    env: process.env,
    log: () => {},
    durable: false,
    settings,
  });
  return {
    // Tests make databases, and end the connections of others.
    url: server.adminUrl,
    async close() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
