import { existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { hasCode } from "../lib/error-code.ts";
import { ExplainedError } from "../lib/explained-error.ts";

/**
 * The mode of a new DATA_DIR. It contains the key ring, so other users must not read it. As root the database
 * runs under another account, which must traverse the folder to reach its files; it cannot read the key ring.
 */
export function dataDirMode(): number {
  return process.geteuid?.() === 0 ? 0o711 : 0o700;
}

const megabyte = 1024 * 1024;
/** A new database takes 35 MB. With less space than this, the first few requests fill the disk. */
const newDatabaseMegabytes = 64;
const littleMegabytes = 300;

/**
 * A warning about the space for the embedded database, or null. Throws if there is too little for a new one.
 */
export async function checkDiskSpace(folder: string, isNew: boolean): Promise<string | null> {
  const { bavail, bsize } = await statfs(folder);
  const free = Math.floor((bavail * bsize) / megabyte);
  const found = `The disk of ${folder} has ${free} MB free`;
  if (isNew && free < newDatabaseMegabytes)
    throw new ExplainedError(
      `${found}, and a new database needs at least ${newDatabaseMegabytes}. Free some space, or set DATA_DIR to a folder on another disk.`,
    );
  return free < littleMegabytes
    ? `${found}. When it is full, the service refuses every write. Free some space, or move DATA_DIR to another disk.`
    : null;
}

/** What to do about a data folder that this process cannot use, in a sentence; any other error unchanged. */
export function explainFolderError(error: unknown, dataDir: string): unknown {
  const { path } = error as { path?: unknown };
  if (typeof path !== "string") return error;
  const otherFolder = "et DATA_DIR to a folder that this user can write.";
  if (hasCode(error, "EROFS"))
    return new ExplainedError(`${path} is on a read-only file system. S${otherFolder}`);
  if (hasCode(error, "ENOTDIR", "EEXIST"))
    return new ExplainedError(`${dataDir} is not a folder, or a part of its path is a file. S${otherFolder}`);
  if (hasCode(error, "ENOSPC"))
    return new ExplainedError(`The disk of ${dataDir} is full. Free some space, or s${otherFolder}`);
  if (!hasCode(error, "EACCES", "EPERM")) return error;
  const [me, { closed, uid }] = [process.geteuid?.(), nearestThatExists(path)];
  if (closed !== dataDir && !closed.startsWith(`${dataDir}${sep}`))
    return new ExplainedError(
      `This user (id ${me}) cannot create ${dataDir}, because ${closed} belongs to user id ${uid}. Create the folder and give it to this user, or s${otherFolder}`,
    );
  return new ExplainedError(
    `This user (id ${me}) cannot use ${closed}, which belongs to user id ${uid}. Start Assay as that user, change the owner with chown -R ${me} ${dataDir}, or s${otherFolder}`,
  );
}

/** A file in a folder that this user cannot enter seems not to exist; then that folder is the obstacle. */
function nearestThatExists(path: string): { closed: string; uid: number } {
  let closed = path;
  while (!existsSync(closed)) closed = dirname(closed);
  return { closed, uid: statSync(closed).uid };
}
