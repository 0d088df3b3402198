import { statfsSync } from "node:fs";
import type { Config } from "../../config.ts";
import { type Clock, secondMs } from "../kernel/clock.ts";
import type { Metrics } from "../lib/metrics.ts";
import { readLastBackup } from "./last-backup.ts";

/**
 * Read from DATA_DIR on each scrape: the free disk space, and the time of the last backup of the built-in
 * database.
 */
export function showInstallation(
  metrics: Metrics,
  { dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">,
  clock: Clock,
): void {
  metrics.gaugeOf("assay_data_dir_free_bytes", "Free space on the disk of DATA_DIR.", () =>
    orNull(() => {
      const { bavail, bsize } = statfsSync(dataDir);
      return bavail * bsize;
    }),
  );
  metrics.gaugeOf("assay_data_dir_size_bytes", "Size of the disk of DATA_DIR.", () =>
    orNull(() => {
      const { blocks, bsize } = statfsSync(dataDir);
      return blocks * bsize;
    }),
  );
  metrics.gaugeOf(
    "assay_backup_age_seconds",
    "Time since the last `assay backup` of the built-in database, -1 without a backup. Missing with DATABASE_URL.",
    () =>
      databaseUrl !== ""
        ? null
        : orNull(() => {
            const last = readLastBackup(dataDir);
            return last === null ? -1 : (clock.now().getTime() - last.getTime()) / secondMs;
          }),
  );
}

/** A folder that cannot be read must not remove all other series. */
function orNull(read: () => number): number | null {
  try {
    return read();
  } catch {
    return null;
  }
}
