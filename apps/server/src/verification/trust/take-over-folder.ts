import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { deserialiseTrustRecord, type TrustRecord } from "@assay/emrtd/trust/trust-record";
import type { Db } from "../../platform/db/db.ts";
import { describeImport } from "./describe-import.ts";
import { changeTrust, insertImport, type TrustAct } from "./trust.store.ts";

const suffix = ".trust.json";
const doneFolder = "taken-over";

/**
 * Imports the files in `DATA_DIR/trust`, where earlier versions kept what they trusted. Storing is
 * idempotent, and a file is moved away only after it is stored, so a process may die at any point. A file
 * that cannot be read stays and is reported.
 */
export async function takeOverTrustFolder(
  db: Db,
  dataDir: string,
  now: Date,
  onProblem: (problem: string) => void,
): Promise<number> {
  const folder = join(dataDir, "trust");
  const found: { name: string; record: TrustRecord; part: number }[] = [];
  for (const name of await listFiles(folder)) {
    const part = /^[0-9a-f]{64}-([0-9]{1,6})\.trust\.json$/.exec(name)?.[1];
    try {
      if (part === undefined) throw new Error("its name is not that of an import");
      const record = deserialiseTrustRecord(await readFile(join(folder, name), "utf8"));
      found.push({ name, record, part: Number(part) });
    } catch (error) {
      onProblem(`${join(folder, name)} cannot be imported: ${(error as Error).message}`);
    }
  }
  if (found.length === 0) return 0;
  await changeTrust(db, now, "folder", async (tx) => {
    const acts: TrustAct[] = [];
    for (const { record, part } of found) {
      if (await insertImport(tx, record, part, "folder")) acts.push(describeImport(record));
    }
    return acts;
  });
  await mkdir(join(folder, doneFolder), { recursive: true, mode: 0o700 });
  for (const { name } of found) await rename(join(folder, name), join(folder, doneFolder, name));
  return found.length;
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(suffix) && !name.startsWith(".")).sort();
}
