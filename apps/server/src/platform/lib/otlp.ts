import type { FinishedSpan, SpanKind } from "./tracer.ts";

// The JSON form of OTLP 1.x: ids in hexadecimal, kinds and states as numbers, 64-bit integers as strings.

type AnyValue = { stringValue: string } | { intValue: string };
type Attribute = { key: string; value: AnyValue };

export type Resource = { attributes: readonly Attribute[] };

const scope = { name: "assay" };
const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const statusError = 2;

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

/** Nanoseconds as a string. A number of milliseconds is exact to the microsecond. */
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
