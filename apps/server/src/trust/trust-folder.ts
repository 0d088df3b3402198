import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import {
  deserialiseTrustRecord,
  serialiseTrustRecord,
  type TrustRecord,
} from "@assay/emrtd/trust/trust-record";
import { TrustStore } from "@assay/emrtd/trust/trust-store";

const suffix = ".trust.json";

export function trustFolderPath(dataDir: string): string {
  return join(dataDir, "trust");
}

/**
 * One file for each import. A file is named after what was imported, so that the same import made twice is there once, and two made at
 * the same time by two processes are there both. Deleting a file takes back its import.
 */
export async function saveTrustRecord(folder: string, record: TrustRecord, part: number): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${record.source.sha256}-${part}${suffix}`;
  const temporary = join(folder, `.${name}.${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(serialiseTrustRecord(record));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
  return name;
}

/** Without this a power cut could take the new name away although the command had said that it was there. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

type FolderEntry = {
  readonly name: string;
  readonly version: string;
};

async function listEntries(folder: string): Promise<readonly FolderEntry[]> {
  const names = await readdir(folder).catch(absentAs<string[]>([]));
  const entries: FolderEntry[] = [];
  for (const name of names.filter((name) => name.endsWith(suffix) && !name.startsWith(".")).sort()) {
    const found = await stat(join(folder, name)).catch(absentAs(null));
    if (found !== null) entries.push({ name, version: `${found.mtimeMs} ${found.size} ${found.ino}` });
  }
  return entries;
}

function absentAs<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}

export async function loadTrustRecords(folder: string): Promise<readonly TrustRecord[]> {
  const records: TrustRecord[] = [];
  for (const { name } of await listEntries(folder)) {
    const text = await readFile(join(folder, name), "utf8").catch(absentAs(null));
    if (text === null) continue;
    try {
      records.push(deserialiseTrustRecord(text));
    } catch (error) {
      throw new Error(`${join(folder, name)} cannot be used: ${(error as Error).message}`);
    }
  }
  return records;
}

export type TrustFolder = {
  /** The store as the folder is now. It is made anew only when a file came, went or changed. */
  current(): Promise<TrustStore>;
};

/**
 * Follows the folder without a restart. Once a store was loaded, a file that cannot be read does not take it away: the last good store stays and
 * `onProblem` is told, once for each state of the folder.
 */
export function openTrustFolder(
  folder: string,
  checker: SignatureChecker,
  onProblem: (error: Error) => void,
): TrustFolder {
  let store: TrustStore | null = null;
  let seen: string | null = null;
  let loading: Promise<TrustStore> | null = null;

  const refresh = async (): Promise<TrustStore> => {
    const entries = await listEntries(folder);
    const state = entries.map(({ name, version }) => `${name} ${version}`).join("\n");
    if (store !== null && state === seen) return store;
    try {
      store = new TrustStore(await loadTrustRecords(folder), checker);
    } catch (error) {
      if (store === null) throw error;
      onProblem(error as Error);
    }
    seen = state;
    return store;
  };

  return {
    current: () => {
      loading ??= refresh().finally(() => {
        loading = null;
      });
      return loading;
    },
  };
}
