import { randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasCode, ignoring } from "../../lib/error-code.ts";
import type { Cluster } from "./cluster.ts";
import { isAlive, processStart } from "./processes.ts";

/** Names the process that owns the server: it started the server or took it over, and it stops it. */
const ownerFile = (cluster: Cluster) => path.join(cluster.base, "owner.pid");

type Owner = { pid: number; lives: boolean };

export async function readOwner(cluster: Cluster): Promise<Owner> {
  const text = (await readFile(ownerFile(cluster), "utf8").catch(ignoring("ENOENT"))) ?? "";
  const [pid = 0, startedAt] = text.trim().split(" ").map(Number);
  // Another program may have the process id by now; the start time distinguishes them.
  const same = startedAt === undefined || startedAt === processStart(pid);
  return { pid, lives: isAlive(pid) && same };
}

export async function writeOwner(cluster: Cluster): Promise<void> {
  const fresh = `${ownerFile(cluster)}.${randomBytes(6).toString("hex")}`;
  const startedAt = processStart(process.pid);
  try {
    await writeFile(fresh, `${process.pid}${startedAt === null ? "" : ` ${startedAt}`}`, { mode: 0o600 });
    await rename(fresh, ownerFile(cluster));
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    // A full disk must not stop the database. Without the file another process may think that the server has
    // no owner, and stop it at its own end. A process that still needs the server then restarts it.
    if (!hasCode(error, "ENOSPC", "EDQUOT")) throw error;
    cluster.options.log("the disk is full, so the owner of PostgreSQL could not be recorded", "warn");
  }
}
