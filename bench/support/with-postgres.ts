import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../apps/server/src/platform/installation/postgres/embedded-postgres.ts";

export type Ground = {
  folder: string;
  databaseUrl: string;
  /** Starts a service on the database. */
  env: Record<"DATABASE_URL" | "DATA_DIR" | "SECRET_KEYS" | "PORT", string>;
};

/** A durable PostgreSQL with the service's settings, in a temporary folder that is removed after the work. */
export async function withPostgres(
  work: (ground: Ground) => Promise<unknown>,
  settings: Record<string, string> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  const postgres = await startEmbeddedPostgres({
    dataDir: folder,
    env: process.env,
    log: () => {},
    settings,
  });
  const env = {
    DATABASE_URL: postgres.adminUrl,
    DATA_DIR: join(folder, "service"),
    SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
    PORT: "0",
  };
  try {
    await work({ folder, databaseUrl: postgres.adminUrl, env });
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
