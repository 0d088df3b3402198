import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import path from "node:path";
import { ignoring } from "../../lib/error-code.ts";
import type { Cluster } from "./cluster.ts";
import { isAlive, processesOf } from "./processes.ts";

/** What a running server writes to `postmaster.pid`. */
export type LockFile = { pid: number; socketFolder: string; status: string };

export async function readLockFile(data: string): Promise<LockFile | null> {
  const text = await readFile(path.join(data, "postmaster.pid"), "utf8").catch(ignoring("ENOENT", "ENOTDIR"));
  if (text === undefined) return null;
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  // Older versions write a negative number while they stop. An empty file is just being created.
  return {
    pid: Number.isSafeInteger(pid) ? Math.abs(pid) : 0,
    socketFolder: lines[4] ?? "",
    status: lines[7] ?? "",
  };
}

/**
 * Writes our process id into the lock file of a dead server. The id in it may belong to a zombie or an
 * unrelated program, and PostgreSQL would refuse to start. It accepts the id of its parent. The write uses
 * the handle of the read: if a new server has replaced the file, only the old file changes.
 */
export async function disownLockFile(
  cluster: Cluster,
  lockFile: string,
  isHolder: (pid: number) => boolean,
): Promise<void> {
  // The folder belongs to the server's account. As root we must not follow a link there and write to another
  // file.
  const file = await open(lockFile, constants.O_RDWR | constants.O_NOFOLLOW).catch(ignoring("ENOENT"));
  if (file === undefined) return;
  try {
    const text = await file.readFile("utf8");
    const firstLine = text.split("\n", 1)[0] ?? "";
    if (text.trim() === "") {
      // A server fills the file right after creating it, so one that stays empty was left by a crash of the
      // machine.
      const { mtimeMs } = await file.stat();
      if (Date.now() - mtimeMs < 5_000 || processesOf(cluster).length > 0) return;
    } else {
      const pid = Math.abs(Number(firstLine));
      if (!Number.isSafeInteger(pid) || !isAlive(pid) || isHolder(pid)) return;
    }
    // Truncated after the write, so that a full disk does not leave it empty.
    const fresh = `${process.pid}${text.slice(firstLine.length)}`;
    await file.write(fresh, 0);
    await file.truncate(Buffer.byteLength(fresh));
  } finally {
    await file.close();
  }
}
