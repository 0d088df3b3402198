import { readSetting } from "../../load-config.ts";
import { openDb } from "../../platform/db/db.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { keyRingPath, readRing } from "../../platform/installation/key-ring-file.ts";
import { startEmbeddedPostgres } from "../../platform/installation/postgres/embedded-postgres.ts";
import { findUnreadable } from "../../platform/key-ring/sealed-columns.store.ts";
import { KeyRing, parseRing } from "../../platform/lib/key-ring.ts";
import { countAllRows, newestEntryAt } from "./copied-rows.store.ts";

const shown = ["organizations", "users", "sessions", "webhook_deliveries", "audit_logs"] as const;

/**
 * Starts the database of a restored folder, reads all of it and opens a value of each key. Returns the
 * problems as sentences.
 */
export async function examineCopy(
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
): Promise<string[]> {
  const server = await startEmbeddedPostgres({ dataDir, env, log: () => {} });
  try {
    // A restore would migrate an archive of an earlier release, so do the same.
    await migrate(server.url, { contract: "never" });
    const db = openDb({ url: server.url, poolSize: 2, onError: () => {} });
    try {
      const counts = await countAllRows(db);
      const total = [...counts.values()].reduce((sum, rows) => sum + rows, 0);
      print(`${counts.size} tables with ${total} rows were read.`);
      for (const table of shown) print(`  ${table.padEnd(20)} ${counts.get(table) ?? 0}`);
      const newest = await newestEntryAt(db);
      if (newest !== null) print(`The newest entry of the audit log is from ${newest.toISOString()}.`);
      const ring = readRing({ secretKeys: readSetting(env, "SECRET_KEYS"), dataDir });
      if (ring === null) {
        print(
          `The archive has no ${keyRingPath("DATA_DIR")} and SECRET_KEYS is not set, so no key was tested.`,
        );
        return [];
      }
      const problems = await db.transaction((tx) => findUnreadable(tx, new KeyRing(parseRing(ring))));
      if (problems.length === 0) print("The key ring opens the sealed data.");
      return problems;
    } finally {
      await db.close();
    }
  } finally {
    await server.stop();
  }
}
