import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import path from "node:path";
import { ignoring } from "../../lib/error-code.ts";
import type { Place } from "./place.ts";
import { isAlive, processesOf } from "./processes.ts";

/** What a running server writes about itself into `postmaster.pid`. */
export type LockFile = { pid: number; socketFolder: string; status: string };

export async function readLockFile(data: string): Promise<LockFile | null> {
  const text = await readFile(path.join(data, "postmaster.pid"), "utf8").catch(ignoring("ENOENT", "ENOTDIR"));
  if (text === undefined) return null;
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  // Older versions write a negative number when they stop. An empty file is one that a server is just creating.
  return {
    pid: Number.isSafeInteger(pid) ? Math.abs(pid) : 0,
    socketFolder: lines[4] ?? "",
    status: lines[7] ?? "",
  };
}

/**
 * Puts our process id into the lock file of a server that is gone. Such a file may name a process that exists: one that has
 * ended but is not reaped yet (a zombie), or, after a restart of the machine or container, another program with the same
 * number. PostgreSQL would then refuse to start. It ignores a lock file that names its own parent, and still checks the shared
 * memory that the file names, so only the number is replaced. It is written through the handle from which it was read: if a
 * new server has replaced the file meanwhile, the write goes to the old one, which nobody sees any more.
 */
export async function disownLockFile(
  place: Place,
  lockFile: string,
  isHolder: (pid: number) => boolean,
): Promise<void> {
  // The folder belongs to the server's account. As root we must not follow a link there and write to some other file.
  const file = await open(lockFile, constants.O_RDWR | constants.O_NOFOLLOW).catch(ignoring("ENOENT"));
  if (file === undefined) return;
  try {
    const text = await file.readFile("utf8");
    const firstLine = text.split("\n", 1)[0] ?? "";
    if (text.trim() === "") {
      // A server creates the file and fills it at once, so one that stays empty was left by a crash of the machine.
      const { mtimeMs } = await file.stat();
      if (Date.now() - mtimeMs < 5_000 || processesOf(place).length > 0) return;
    } else {
      const pid = Math.abs(Number(firstLine));
      if (!Number.isSafeInteger(pid) || !isAlive(pid) || isHolder(pid)) return;
    }
    // The file is cut after it is written, so that a disk which is full at this moment does not leave it empty.
    const fresh = `${process.pid}${text.slice(firstLine.length)}`;
    await file.write(fresh, 0);
    await file.truncate(Buffer.byteLength(fresh));
  } finally {
    await file.close();
  }
}
