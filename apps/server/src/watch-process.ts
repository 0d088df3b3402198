import { randomUUID } from "node:crypto";
import type { Config } from "./config.ts";
import type { Log } from "./platform/lib/log.ts";
import type { Metrics } from "./platform/lib/metrics.ts";
import { OtlpExporter } from "./platform/lib/otlp-exporter.ts";
import { buildVersion, type ProcessWatch, unwatched, watchProcess } from "./platform/lib/process-metrics.ts";
import { Tracer } from "./platform/lib/tracer.ts";

type Tracing = { tracer: Tracer; exporter: OtlpExporter };

/** Process metrics if /metrics is served, and traces if a collector is configured, for every role. */
export function openWatch(
  config: Config,
  role: string,
  log: Log,
  metrics: Metrics,
): { isWatched: boolean; processWatch: ProcessWatch; tracing: Tracing | null } {
  const isWatched = config.metricsToken !== "" || config.metricsPort > 0;
  const processWatch = isWatched ? watchProcess() : unwatched;
  return { isWatched, processWatch, tracing: openTracing(config, role, log, metrics) };
}

/** Null without a collector: then nothing is traced. */
function openTracing(config: Config, role: string, log: Log, metrics: Metrics): Tracing | null {
  if (config.otlpEndpoint === "") return null;
  const exporter = new OtlpExporter({
    endpoint: config.otlpEndpoint,
    headers: config.otlpHeaders,
    resource: {
      "service.name": "assay",
      "service.version": buildVersion(),
      "service.instance.id": randomUUID(),
      "assay.role": role,
      ...config.otelResourceAttributes,
    },
    log,
    metrics,
  });
  const tracer = new Tracer({
    ratio: config.otelTracesSamplerArg,
    keep: (spans) => exporter.add(spans),
    dropped: (count) => exporter.drop("long_trace", count),
  });
  return { tracer, exporter };
}
