import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { hasCode } from "../../lib/error-code.ts";
import type { Cluster } from "./cluster.ts";

type PostgresProcess = { pid: number; parent: number; title: string };

/** Part of the title of every process of a server, to recognize them if their folder is not visible. */
export function clusterName(data: string): string {
  return `assay-${createHash("sha256").update(data).digest("hex").slice(0, 16)}`;
}

/** A live process of any PostgreSQL; null for other programs and for an ended process, even a zombie. */
export function readPostgresProcess(pid: number): PostgresProcess | null {
  if (!isAlive(pid)) return null;
  if (process.platform === "linux") {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, name, state = "X", parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(text) ?? [];
      if (name !== "postgres" || "ZX".includes(state)) return null;
      const title = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return { pid, parent: Number(parent), title };
    } catch {
      return null;
    }
  }
  const shown = spawnSync("ps", ["-o", "ppid=,stat=,command=", "-p", String(pid)], { encoding: "utf8" });
  const [, parent, state = "Z", title = ""] = /^\s*(\d+)\s+(\S+)\s+(.*)$/m.exec(shown.stdout ?? "") ?? [];
  if (state.startsWith("Z") || !/^\S*postgres\b/.test(title)) return null;
  return { pid, parent: Number(parent), title };
}

/**
 * Whether a process belongs to the server of this folder: a process id from a file may be reused by another
 * PostgreSQL. All processes of a server run in its data folder, which is compared by device and inode.
 */
function belongsTo(cluster: Cluster, found: PostgresProcess): boolean {
  if (process.platform === "linux") {
    try {
      const [folder, data] = [statSync(`/proc/${found.pid}/cwd`), statSync(cluster.data)];
      return folder.dev === data.dev && folder.ino === data.ino;
    } catch (error) {
      // In a container root may not inspect processes of other users.
      if (!hasCode(error, "EACCES", "EPERM")) return false;
    }
  }
  return (
    found.title.includes(` -D ${cluster.data} -c `) ||
    found.title.startsWith(`postgres: ${clusterName(cluster.data)}: `)
  );
}

export function isServerOf(cluster: Cluster, pid: number): boolean {
  const found = readPostgresProcess(pid);
  return found !== null && belongsTo(cluster, found);
}

/** Every process of the server of this folder, with or without a live postmaster. */
export function processesOf(cluster: Cluster): PostgresProcess[] {
  const listed =
    process.platform === "linux"
      ? readdirSync("/proc")
      : (spawnSync("ps", ["-A", "-o", "pid="], { encoding: "utf8" }).stdout ?? "").split("\n");
  return listed
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid) && pid > 0)
    .map(readPostgresProcess)
    .filter((found) => found !== null)
    .filter((found) => belongsTo(cluster, found));
}

/** Processes whose parent, the postmaster, is gone; never a postmaster itself. */
export function orphansOf(cluster: Cluster): PostgresProcess[] {
  return processesOf(cluster).filter(
    ({ title, parent }) => title.startsWith("postgres:") && readPostgresProcess(parent) === null,
  );
}

/** Whether a server replays its write-ahead log: then it has a process named "startup". */
export function isRecovering(cluster: Cluster, pid: number): boolean {
  return processesOf(cluster).some(({ parent, title }) => parent === pid && /: startup\b/.test(title));
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
  }
}

export function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/** The start time of a process, in kernel ticks; null if the kernel does not report it. */
export function processStart(pid: number): number | null {
  if (process.platform !== "linux") return null;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may contain anything; the 22nd field is the 20th after it.
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
  } catch {
    return null;
  }
}
