import type { Labels, Reading } from "./metrics.ts";
import type { FinishedSpan, SpanKind } from "./tracer.ts";

// The JSON form of OTLP 1.x: ids in hexadecimal, kinds and states as numbers, 64-bit integers as texts.

type AnyValue = { stringValue: string } | { intValue: string };
type Attribute = { key: string; value: AnyValue };

export type Resource = { attributes: readonly Attribute[] };

const scope = { name: "assay" };
const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const statusError = 2;
const cumulative = 2;

function attributesOf(values: Readonly<Record<string, string | number | undefined>>): Attribute[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }],
  );
}

export function resourceOf(values: Readonly<Record<string, string>>): Resource {
  return { attributes: attributesOf(values) };
}

/** Nanoseconds as a text. A number of milliseconds is exact to the microsecond. */
const nanoseconds = (milliseconds: number) => `${Math.round(milliseconds * 1000)}000`;

export function writeSpans(resource: Resource, spans: readonly FinishedSpan[]): string {
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(spanOf) }] }],
  });
}

function spanOf(span: FinishedSpan) {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId === null ? {} : { parentSpanId: span.parentId }),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: attributesOf(span.attributes),
    status: span.failed ? { code: statusError } : {},
  };
}

export function writeMetrics(
  resource: Resource,
  readings: readonly Reading[],
  times: { startMs: number; nowMs: number },
): string {
  const metrics = readings.flatMap((reading) => metricOf(reading, times));
  return JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] });
}

function metricOf(reading: Reading, times: { startMs: number; nowMs: number }): object[] {
  const { name, help: description } = reading;
  const point = (labels: Labels) => ({
    attributes: attributesOf(labels),
    startTimeUnixNano: nanoseconds(times.startMs),
    timeUnixNano: nanoseconds(times.nowMs),
  });
  if (reading.kind === "histogram") {
    const dataPoints = reading.distributions.map(({ labels, counts, sum, count }) => ({
      ...point(labels),
      count: String(count),
      sum,
      explicitBounds: reading.bounds,
      // Prometheus counts what is at or below each bound, OTLP what is between two.
      bucketCounts: [...counts, count].map((upTo, at) => String(upTo - (counts[at - 1] ?? 0))),
    }));
    return dataPoints.length === 0
      ? []
      : [{ name, description, histogram: { aggregationTemporality: cumulative, dataPoints } }];
  }
  const dataPoints = reading.values
    // JSON has no word for what is not a number.
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ ...point(labels), asDouble: value }));
  if (dataPoints.length === 0) return [];
  return reading.kind === "gauge"
    ? [{ name, description, gauge: { dataPoints } }]
    : [{ name, description, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } }];
}
