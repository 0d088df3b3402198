import type { Report, Sent } from "./plan.ts";

/** Resolves once the process that started this one has it: one that ends right afterwards would lose it. */
export function report(message: Report): Promise<void> {
  const { user, system } = process.cpuUsage();
  const sent: Sent = { ...message, cpuSeconds: (user + system) / 1e6 };
  return new Promise((resolve) => process.send?.(sent, () => resolve()));
}
