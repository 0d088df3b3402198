import type { Report, Sent } from "./plan.ts";

/** Resolves once the parent process has it; a process that exits at once would lose it. */
export function report(message: Report): Promise<void> {
  const { user, system } = process.cpuUsage();
  const sent: Sent = { ...message, cpuSeconds: (user + system) / 1e6 };
  return new Promise((resolve) => process.send?.(sent, () => resolve()));
}
