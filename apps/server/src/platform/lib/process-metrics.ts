import { readFileSync } from "node:fs";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Metrics } from "./metrics.ts";

// About the process and not about a service in it: what was observed twice would be counted twice, and the observers of the
// event loop and of garbage collection cannot be taken off again.
let registry: Registry | null = null;

export type ProcessWatch = {
  /** In the Prometheus text format. */
  render: () => Promise<string>;
};

/** For a process that nobody looks at. */
export const unwatched: ProcessWatch = { render: async () => "" };

/**
 * Begins to watch the process: processor, memory, heap, garbage collection, event loop, open files, under the names that every dashboard for Node
 * knows.
 */
export function watchProcess(): ProcessWatch {
  if (registry === null) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  const watched = registry;
  return { render: () => watched.metrics() };
}

/** Always 1; the version is in the label, so that a change of it can be seen beside every other series. */
export function showBuild(metrics: Metrics): void {
  metrics.gauge("assay_build_info", "The version that runs, as a label.")(1, { version: buildVersion() });
}

/** The version of the program that runs. */
export function buildVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return String(version);
}
