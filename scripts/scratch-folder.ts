// Folder for the databases, data folders and browser profiles of one test run:
// thousands of small temporary files.
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import path from "node:path";

const memory = "/dev/shm";
const gib = 2 ** 30;
/** A whole run needs 2.5 GiB at most; programs need memory besides. */
const neededBytes = 4 * gib;
const neededFreeBytes = 8 * gib;
const prefix = "assay-tests-";

/** Whether the folder is a memory file system that allows files and programs, by the mount table. */
export function isInMemory(mounts: string, folder: string): boolean {
  const last = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .findLast(([, place]) => place === folder);
  const [, , kind, options = ""] = last ?? [];
  return kind === "tmpfs" && options.split(",").includes("rw") && !options.split(",").includes("noexec");
}

/** In memory if there is plenty: the journal of a disk makes a run a tenth longer. TMPDIR overrides it. */
export function openScratchFolder(): { folder: string; close(): void } {
  const folder = mkdtempSync(path.join(hasMemory() ? memory : tmpdir(), `${prefix}${process.pid}-`));
  // If root runs the tests, PostgreSQL is another user.
  chmodSync(folder, 0o711);
  return { folder, close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }) };
}

function hasMemory(): boolean {
  if (process.env.TMPDIR || process.platform !== "linux" || !existsSync(memory)) return false;
  if (!isInMemory(readFileSync("/proc/self/mounts", "utf8"), memory)) return false;
  sweepMemory();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= neededBytes && freemem() >= neededFreeBytes;
}

/** A run that was killed leaves its folder, and here it takes memory. */
function sweepMemory(): void {
  for (const name of readdirSync(memory)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || existsSync(`/proc/${pid}`)) continue;
    rmSync(path.join(memory, name), { recursive: true, force: true });
  }
}
