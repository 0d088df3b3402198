import { OtlpExporter, type OtlpOptions } from "./otlp-exporter.ts";
import { Tracer } from "./tracer.ts";

export type Telemetry = { tracer: Tracer | null; exporter: OtlpExporter };

/** Null without an address to send to: then nothing is followed, and nothing is kept. */
export function openTelemetry(options: OtlpOptions & { traces: boolean; ratio: number }): Telemetry | null {
  if (options.endpoint === "") return null;
  const exporter = new OtlpExporter(options);
  const tracer = options.traces
    ? new Tracer({
        ratio: options.ratio,
        keep: (spans) => exporter.add(spans),
        dropped: (count) => exporter.drop("long_trace", count),
      })
    : null;
  return { tracer, exporter };
}
