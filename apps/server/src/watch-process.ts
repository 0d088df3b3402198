import { randomUUID } from "node:crypto";
import type { Config } from "./config.ts";
import type { Log } from "./lib/log.ts";
import type { Metrics } from "./lib/metrics.ts";
import { buildVersion, type ProcessWatch, unwatched, watchProcess } from "./lib/process-metrics.ts";
import { openTelemetry, type Telemetry } from "./lib/telemetry.ts";

/** What is watched of a process of any role, where somebody looks: its figures, and what is sent to a collector. */
export function openWatch(
  config: Config,
  role: string,
  log: Log,
  metrics: Metrics,
): { isWatched: boolean; processWatch: ProcessWatch; telemetry: Telemetry | null } {
  const isWatched = config.metricsToken !== "" || config.metricsPort > 0 || sendsMetrics(config);
  const processWatch = isWatched ? watchProcess() : unwatched;
  return { isWatched, processWatch, telemetry: telemetryOf(config, role, log, metrics, processWatch) };
}

const sendsMetrics = (config: Config) => config.otlpEndpoint !== "" && config.otelMetricsExporter === "otlp";

function telemetryOf(
  config: Config,
  role: string,
  log: Log,
  metrics: Metrics,
  processWatch: ProcessWatch,
): Telemetry | null {
  return openTelemetry({
    endpoint: config.otlpEndpoint,
    headers: config.otlpHeaders,
    resource: {
      "service.name": config.otelServiceName,
      "service.version": buildVersion(),
      "service.instance.id": randomUUID(),
      "assay.role": role,
      ...config.otelResourceAttributes,
    },
    traces: config.otelTracesExporter === "otlp",
    ratio: config.otelTracesSamplerArg,
    metricsEveryMs: sendsMetrics(config) ? config.otelMetricExportInterval : null,
    log,
    metrics,
    read: async () => [...metrics.read(), ...(await processWatch.read())],
  });
}
