import { readFileSync } from "node:fs";

/** Files, listeners, pipes and the like. Halved, a busy start may run out; doubled, small limits leave few connections. */
const otherFiles = 64;
const minConnections = 10;

/**
 * How many connections may be open, so that they do not take every file descriptor of the process: what the database needs stays free, and for connections
 * to others what they may take, at most a quarter of all. `openFiles` is null where the system does not say how many there may be.
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

/** The limit of open files of this process, which Linux tells. */
export function openFilesLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
