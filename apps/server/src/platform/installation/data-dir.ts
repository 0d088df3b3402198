import { existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { hasCode } from "../lib/error-code.ts";
import { ExplainedError } from "../lib/explained-error.ts";

/**
 * The mode with which DATA_DIR is made. It holds the key ring, so nobody else may look into it. As root the database runs under
 * another account, which has to pass through the folder to reach its own files; the key ring stays closed to it.
 */
export function dataDirMode(): number {
  return process.geteuid?.() === 0 ? 0o711 : 0o700;
}

const megabyte = 1024 * 1024;
/** A new database takes 35 MB. Less room than this and the first few requests fill the disk. */
const newDatabaseMegabytes = 64;
const littleMegabytes = 300;

/** A warning about the room for the embedded database, or null. Where there is too little to make one, this is refused. */
export async function checkRoom(folder: string, isNew: boolean): Promise<string | null> {
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

/** What to do about a data folder that this process cannot use, in a sentence; any other error as it is. */
export function explainFolderError(error: unknown, dataDir: string): unknown {
  const { path } = error as { path?: unknown };
  if (typeof path !== "string") return error;
  const otherFolder = "et DATA_DIR to a folder that this user may write.";
  if (hasCode(error, "EROFS"))
    return new ExplainedError(`${path} is on a read-only file system. S${otherFolder}`);
  if (hasCode(error, "ENOTDIR", "EEXIST"))
    return new ExplainedError(`${dataDir} is no folder, or a file is in its way. S${otherFolder}`);
  if (hasCode(error, "ENOSPC"))
    return new ExplainedError(`The disk of ${dataDir} is full. Free some space, or s${otherFolder}`);
  if (!hasCode(error, "EACCES", "EPERM")) return error;
  const [me, { closed, uid }] = [process.geteuid?.(), nearestThatExists(path)];
  if (closed !== dataDir && !closed.startsWith(`${dataDir}${sep}`))
    return new ExplainedError(
      `This user (id ${me}) may not make ${dataDir}, because ${closed} belongs to user id ${uid}. Make the folder and give it to this user, or s${otherFolder}`,
    );
  return new ExplainedError(
    `This user (id ${me}) may not use ${closed}, which belongs to user id ${uid}. Start Assay as that user, or hand the folder over with chown -R ${me} ${dataDir}, or s${otherFolder}`,
  );
}

/** Something inside of a folder that this user may not enter does not exist for it; then it is that folder which is in the way. */
function nearestThatExists(path: string): { closed: string; uid: number } {
  let closed = path;
  while (!existsSync(closed)) closed = dirname(closed);
  return { closed, uid: statSync(closed).uid };
}
