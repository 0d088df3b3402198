import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { keyRingFileName } from "../../platform/installation/key-ring-file.ts";
import { parseRing } from "../../platform/lib/key-ring.ts";

/** Files that only a started service leaves in DATA_DIR. */
const leftBehind = [keyRingFileName, "mail", "last-backup"] as const;

/**
 * Signs that this installation has run before, so that an empty database means a lost or a wrong one.
 * SECRET_KEYS alone is no sign: it is set before the first start. Several keys are one, because they come
 * from a rotation.
 */
export function signsOfEarlierUse({
  dataDir,
  secretKeys,
  skipMigrations,
}: Pick<Config, "dataDir" | "secretKeys" | "skipMigrations">): string[] {
  const files = leftBehind.filter((name) => existsSync(join(dataDir, name)));
  return [
    ...files.map((name) => `${join(dataDir, name)} is there`),
    ...(secretKeys !== "" && parseRing(secretKeys).length > 1 ? ["SECRET_KEYS has several keys"] : []),
    ...(skipMigrations ? ["SKIP_MIGRATIONS is true"] : []),
  ];
}
