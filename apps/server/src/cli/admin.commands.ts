import { readFileSync } from "node:fs";
import { countByHashKey } from "../api-keys/api-key.store.ts";
import { loadConfig } from "../config.ts";
import { migrate } from "../db/migrate.ts";
import { formatRing, KeyRing, newRingKey, parseRing } from "../lib/key-ring.ts";
import { keyRingPath, writeRingFile } from "../lib/key-ring-file.ts";
import { resealAll } from "../lib/sealed-columns.ts";
import { listAllOrganizations } from "../organizations/organization.store.ts";
import type { Command } from "./command.ts";
import { openInstallation, withDatabase } from "./installation.ts";

export const migrateCommand: Command = {
  name: "migrate",
  about: "Apply missing database migrations and end.",
  run: async (_args, print) => {
    const installation = await openInstallation();
    try {
      const applied = await migrate(installation.databaseUrl);
      print(applied.length === 0 ? "The database is up to date." : `Applied: ${applied.join(", ")}`);
      return 0;
    } finally {
      await installation.close();
    }
  },
};

export const keysRotate: Command = {
  name: "keys rotate",
  about:
    "Put a new key in front of the key ring and seal everything that is stored under it. Old keys stay in the ring until --retire finds that nothing needs them.",
  options: {
    retire: { type: "boolean", about: "Add no key; remove old keys that nothing needs any more." },
  },
  run: async ({ options }, print) => {
    const config = loadConfig(process.env);
    const fromFile = config.secretKeys === "";
    return withDatabase(async (db, installation) => {
      const path = keyRingPath(config.dataDir);
      const keys = parseRing(fromFile ? readFileSync(path, "utf8") : config.secretKeys);
      let next = options.retire ? keys : [newRingKey(keys), ...keys];
      const ring = new KeyRing(next);
      // The new ring is written before anything is sealed with it: a crash in between leaves every value readable.
      if (!options.retire && fromFile) writeRingFile(path, next);
      if (!options.retire && !fromFile) {
        print(
          "Set SECRET_KEYS to this ring on every process and restart them, then run `assay keys rotate --retire`:",
        );
        print(formatRing(next));
        return 0;
      }
      const resealed = await resealAll(db, ring);
      print(`Current key: ${ring.currentId}. Sealed anew: ${resealed}.`);
      const needed = new Set((await countByHashKey(db)).map((row) => row.hash_key_id));
      const old = next.slice(1);
      for (const key of old) {
        if (needed.has(key.id))
          print(`Key ${key.id} stays: API keys that were not used since still depend on it.`);
      }
      if (options.retire) {
        const retired = old.filter((key) => !needed.has(key.id));
        next = next.filter((key) => !retired.includes(key));
        print(
          retired.length === 0
            ? "No key can be retired yet."
            : `Retired: ${retired.map((key) => key.id).join(", ")}.`,
        );
        if (retired.length > 0 && fromFile) writeRingFile(path, next);
        if (retired.length > 0 && !fromFile) {
          print("Set SECRET_KEYS to:");
          print(formatRing(next));
        }
      }
      installation.log.debug("key ring rotated", { current: ring.currentId });
      return 0;
    });
  },
};

export const orgList: Command = {
  name: "org list",
  about: "List the organizations with their environment and number of members.",
  run: (_args, print) =>
    withDatabase(async (db) => {
      const rows = await listAllOrganizations(db);
      if (rows.length === 0) print("There is no organization yet.");
      for (const row of rows) {
        print(
          `${row.id}  ${row.slug.padEnd(24)}  ${row.environment.padEnd(8)} ${String(row.members).padStart(3)} members  ${row.name}${row.frozen ? "  (to be deleted)" : ""}`,
        );
      }
      return 0;
    }),
};
