import { readFileSync } from "node:fs";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Metrics } from "./metrics.ts";

// One per process, not per service. A second observer would count everything twice, and some observers cannot
// be removed.
let registry: Registry | null = null;

/**
 * Starts to observe processor, memory, heap, garbage collection, event loop and open files, under the usual
 * names for Node. Returns what renders them in the Prometheus text format.
 */
export function watchProcess(): () => Promise<string> {
  if (registry === null) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  const watched = registry;
  return () => watched.metrics();
}

/** Always 1. The version is a label, so that a change of it shows beside every other series. */
export function showBuild(metrics: Metrics): void {
  metrics.gauge("assay_build_info", "The running version, as a label.")(1, { version: buildVersion() });
}

export function buildVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return String(version);
}
