import { readFileSync } from "node:fs";

/**
 * Files, listeners, pipes and so on. With half, a busy start may run out. With twice, small limits leave few
 * connections.
 */
const otherFiles = 64;
const minConnections = 10;

/**
 * The number of connections that leaves enough file descriptors for the database and for outgoing
 * connections, which get at most a quarter. `openFiles` is null if the system reports no limit.
 */
export function connectionLimit(
  wanted: number,
  openFiles: number | null,
  needs: { database: number; outbound: number },
): number {
  if (openFiles === null) return wanted;
  const kept = otherFiles + needs.database + Math.min(needs.outbound, Math.floor(openFiles / 4));
  return Math.min(wanted, Math.max(minConnections, openFiles - kept));
}

/** The limit of open files of this process, from Linux's /proc; null elsewhere. */
export function openFilesLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
