import type { Config } from "../../config.ts";
import type { Db } from "../../platform/db/db.ts";
import { withDatabase } from "../../platform/installation/open-installation.ts";
import { takeOverTrustFolder } from "../../verification/trust/take-over-folder.ts";

/** The trust of the installation, including the folder of an older version. */
export function withTrust<T>(
  print: (line: string) => void,
  work: (db: Db, now: Date, config: Config) => Promise<T>,
): Promise<T> {
  return withDatabase(process.env, async (db, { config, clock }) => {
    await takeOverTrustFolder(db, config.dataDir, clock.now(), print);
    return work(db, clock.now(), config);
  });
}
