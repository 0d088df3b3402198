import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasCode } from "../lib/error-code.ts";

/** In DATA_DIR, so that whoever looks after the installation can tell how old its newest backup is. It is not a part of a backup. */
const fileName = "last-backup";

export function noteBackup(dataDir: string, now: Date): void {
  writeFileSync(join(dataDir, fileName), `${now.toISOString()}\n`, { mode: 0o600 });
}

/** When the built-in database was last backed up with `assay backup`; null where that is not known. */
export function readLastBackup(dataDir: string): Date | null {
  try {
    const time = Date.parse(readFileSync(join(dataDir, fileName), "utf8").trim());
    return Number.isNaN(time) ? null : new Date(time);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
