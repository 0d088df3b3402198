import { readFileSync } from "node:fs";
import { serverProcesses } from "../../apps/server/test/support/postgres-processes.ts";

/** Processor time of all server processes: ended ones count in the postmaster's sum of its children. */
export function postgresMicroseconds(dataDir: string): number {
  const times = serverProcesses(dataDir).map((pid, index) => {
    try {
      // In nanoseconds. `stat` counts in hundredths of a second, of which a process may have used a few.
      const own = Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000;
      return index === 0 ? own + endedMicroseconds(pid) : own;
    } catch {
      return 0;
    }
  });
  return times.reduce((sum, one) => sum + one, 0);
}

function endedMicroseconds(postmaster: number): number {
  const text = readFileSync(`/proc/${postmaster}/stat`, "utf8");
  const [user, system] = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .slice(13, 15)
    .map(Number);
  // A tick is a hundredth of a second on Linux.
  return ((user ?? 0) + (system ?? 0)) * 10_000;
}
