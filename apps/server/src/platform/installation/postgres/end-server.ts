import { setTimeout as wait } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { processesOf, sendSignal } from "./processes.ts";

/** A signal, and how long the server may take before the next one. */
type Step = readonly [signal: "SIGINT" | "SIGQUIT" | "SIGKILL", patienceMs: number];

/**
 * A fast shutdown, which ends sessions and writes everything to disk; harsher signals only if it takes too
 * long.
 */
export const orderly: readonly Step[] = [
  ["SIGINT", 30_000],
  ["SIGQUIT", 10_000],
  ["SIGKILL", 10_000],
];

/** For an unusable server. After SIGQUIT it kills its remaining processes within 5 seconds. */
export const forced: readonly Step[] = [
  ["SIGINT", 2_000],
  ["SIGQUIT", 8_000],
  ["SIGKILL", 10_000],
];

/**
 * Ends a server with increasingly harsh signals. Even after the last one, recovery at the next start loses
 * nothing.
 */
export async function endServer(
  cluster: Cluster,
  pid: number,
  ended: () => boolean,
  steps: readonly Step[],
): Promise<void> {
  for (const [signal, patienceMs] of steps) {
    if (ended()) return;
    if (signal === "SIGKILL") {
      cluster.options.log(`PostgreSQL with process id ${pid} does not end; killing it`, "error");
      const children = processesOf(cluster).filter((one) => one.parent === pid);
      // The parent first, because it would restart its processes.
      for (const one of [pid, ...children.map((child) => child.pid)]) sendSignal(one, signal);
    } else {
      sendSignal(pid, signal);
    }
    const until = Date.now() + patienceMs;
    while (Date.now() < until) {
      if (ended()) return;
      await wait(10);
    }
  }
}
