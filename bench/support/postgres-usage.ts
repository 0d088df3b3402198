import { readFileSync } from "node:fs";
import { serverProcesses } from "../../apps/server/test/support/postgres-processes.ts";

/** Processor time of all processes of the server: those that have ended count in the postmaster's sum of its children. */
export function postgresMicroseconds(dataDir: string): number {
  const ticks = serverProcesses(dataDir).map((pid, index) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [user, system, childUser, childSystem] = text
        .slice(text.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 15)
        .map(Number);
      const own = (user ?? 0) + (system ?? 0);
      return index === 0 ? own + (childUser ?? 0) + (childSystem ?? 0) : own;
    } catch {
      return 0;
    }
  });
  // A tick is a hundredth of a second on Linux.
  return ticks.reduce((sum, one) => sum + one, 0) * 10_000;
}
