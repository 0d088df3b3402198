import { readFileSync } from "node:fs";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Labels, Metrics, Reading } from "./metrics.ts";

// About the process and not about a service in it: what was observed twice would be counted twice, and the observers of the
// event loop and of garbage collection cannot be taken off again.
let registry: Registry | null = null;

export type ProcessWatch = {
  /** In the Prometheus text format. */
  render: () => Promise<string>;
  read: () => Promise<Reading[]>;
};

/** For a process that nobody looks at. */
export const unwatched: ProcessWatch = { render: async () => "", read: async () => [] };

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
  return {
    render: () => watched.metrics(),
    read: async () => (await watched.getMetricsAsJSON()).flatMap(readingOf),
  };
}

type Collected = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

function readingOf(collected: Collected): Reading[] {
  const { name, help } = collected;
  // The package writes its kinds as texts, whatever its types say.
  const kind = String(collected.type);
  const values = collected.values.map((entry) => ({
    labels: entry.labels as Labels,
    value: entry.value,
    of: "metricName" in entry ? String(entry.metricName) : name,
  }));
  if (kind === "counter" || kind === "gauge") return [{ name, help, kind, values: values.map(textLabels) }];
  if (kind !== "histogram") return [];
  const bounds = [
    ...new Set(
      values
        .filter(({ of, labels }) => of === `${name}_bucket` && labels.le !== "+Inf")
        .map(({ labels }) => Number(labels.le)),
    ),
  ].sort((a, b) => a - b);
  const distributions = values
    .filter(({ of }) => of === `${name}_count`)
    .map(({ labels, value: count }) => {
      const same = ({ labels: { le: _bound, ...others } }: { labels: Labels }) =>
        Object.entries(labels).every(([label, value]) => others[label] === value);
      const find = (of: string, bound?: number) =>
        values.find(
          (entry) =>
            entry.of === of && same(entry) && (bound === undefined || Number(entry.labels.le) === bound),
        )?.value ?? 0;
      return {
        ...textLabels({ labels, value: 0 }),
        counts: bounds.map((bound) => find(`${name}_bucket`, bound)),
        sum: find(`${name}_sum`),
        count,
      };
    });
  return [{ name, help, kind, bounds, distributions }];
}

/** Some labels of the package are numbers. */
function textLabels({ labels, value }: { labels: Labels; value: number }): { labels: Labels; value: number } {
  return {
    labels: Object.fromEntries(Object.entries(labels).map(([name, text]) => [name, String(text)])),
    value,
  };
}

/** Always 1; the version is in the label, so that a change of it can be seen beside every other series. */
export function showBuild(metrics: Metrics): void {
  metrics.gauge("assay_build_info", "The version that runs, as a label.")(1, { version: buildVersion() });
}

/** The version of the program that runs. */
export function buildVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String(version);
}
