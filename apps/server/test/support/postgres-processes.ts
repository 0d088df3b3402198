import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { embeddedFolders } from "../../src/platform/installation/postgres/cluster.ts";

/** The process id of the embedded server of a data folder, or null when none is written down. */
export function serverPid(dataDir: string): number | null {
  try {
    return Number(
      readFileSync(path.join(embeddedFolders(dataDir).data, "postmaster.pid"), "utf8").split("\n")[0],
    );
  } catch {
    return null;
  }
}

/**
 * Every process of the server: the postmaster first, then its children. The pid of a killed server may since
 * belong to another program, so only a PostgreSQL counts.
 */
export function serverProcesses(dataDir: string): number[] {
  const postmaster = serverPid(dataDir);
  if (postmaster === null) return [];
  return spawnSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" })
    .stdout.split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+\S*postgres/.exec(line))
    .map((match) => ({ pid: Number(match?.[1]), parent: Number(match?.[2]) }))
    .filter(({ pid, parent }) => pid === postmaster || parent === postmaster)
    .map(({ pid }) => pid)
    .sort((a, b) => Number(b === postmaster) - Number(a === postmaster));
}

/** The process of the server whose title matches, for example "checkpointer". */
export function serverProcess(dataDir: string, title: RegExp): number {
  const postmaster = serverPid(dataDir);
  const listed = spawnSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).stdout;
  for (const line of listed.split("\n")) {
    const [, pid, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (Number(parent) === postmaster && args.startsWith("postgres: ") && title.test(args))
      return Number(pid);
  }
  throw new Error(`the server in ${dataDir} has no process like ${title}`);
}

export function killServer(dataDir: string): void {
  killAll(serverProcesses(dataDir));
}

/** Kills processes with SIGKILL; those that have ended do not matter. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {}
  }
}
