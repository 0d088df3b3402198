import { randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasCode, ignoring } from "../../lib/error-code.ts";
import type { Place } from "./place.ts";
import { isAlive, processStart } from "./processes.ts";

/** Names the process that owns the server: it started the server or took it over, and it stops it. */
const ownerFile = (place: Place) => path.join(place.base, "owner.pid");

type Owner = { pid: number; lives: boolean };

export async function readOwner(place: Place): Promise<Owner> {
  const text = (await readFile(ownerFile(place), "utf8").catch(ignoring("ENOENT"))) ?? "";
  const [pid = 0, startedAt] = text.trim().split(" ").map(Number);
  // Another program may have the process id by now; the start time distinguishes them.
  const same = startedAt === undefined || startedAt === processStart(pid);
  return { pid, lives: isAlive(pid) && same };
}

export async function writeOwner(place: Place): Promise<void> {
  const fresh = `${ownerFile(place)}.${randomBytes(6).toString("hex")}`;
  const startedAt = processStart(process.pid);
  try {
    await writeFile(fresh, `${process.pid}${startedAt === null ? "" : ` ${startedAt}`}`, { mode: 0o600 });
    await rename(fresh, ownerFile(place));
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    // A full disk must not stop the database. Without the file another process may think that the server has
    // no owner, and stop it at its own end. A process that still needs the server then restarts it.
    if (!hasCode(error, "ENOSPC", "EDQUOT")) throw error;
    place.options.log("the disk is full, so the owner of PostgreSQL could not be recorded", "warn");
  }
}
