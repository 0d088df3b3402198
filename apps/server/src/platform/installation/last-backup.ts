import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasCode } from "../lib/error-code.ts";

/** In DATA_DIR, to show operators the age of the newest backup. It is not part of a backup. */
const fileName = "last-backup";

export function noteBackup(dataDir: string, now: Date): void {
  writeFileSync(join(dataDir, fileName), `${now.toISOString()}\n`, { mode: 0o600 });
}

/** The time of the last `assay backup` of the built-in database; null if unknown. */
export function readLastBackup(dataDir: string): Date | null {
  try {
    const time = Date.parse(readFileSync(join(dataDir, fileName), "utf8").trim());
    return Number.isNaN(time) ? null : new Date(time);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
