import { AsyncLocalStorage } from "node:async_hooks";
import { randomHex } from "../kernel/ids.ts";

/**
 * All attributes that a span may have, so that nothing else leaves the service with one: names and numbers
 * from our own code, and the request id of the log. The names are those of OpenTelemetry, where it has one.
 */
export type SpanAttributes = {
  "http.request.method"?: string;
  /** The template, such as /v1/sessions/:id, never the actual path. */
  "http.route"?: string;
  "http.response.status_code"?: number;
  /** A code of the contract, an SQLSTATE, or the kind of an error of ours. */
  "error.type"?: string;
  "db.system.name"?: "postgresql";
  /** What a statement does to which table, without its text. */
  "db.query.summary"?: string;
  "db.operation.batch.size"?: number;
  "assay.request_id"?: string;
  "assay.route"?: string;
  "assay.job"?: string;
  "assay.items"?: number;
  "assay.event_type"?: string;
  "assay.outcome"?: string;
};

export type SpanKind = "internal" | "server" | "client";

/** A finished span. Times are milliseconds since 1970. */
export type FinishedSpan = {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  failed: boolean;
  attributes: SpanAttributes;
};

/**
 * With half, a request that reads a long list in pieces loses spans. With twice, a stream that is open for
 * hours takes twice the memory.
 */
const maxSpansOfATrace = 500;

/** The local part of a trace: a request or a run of a job, with all its spans. */
type Trace = {
  id: string;
  /** Both clocks at the beginning; later times use only the monotonic one. */
  beganAtMs: number;
  beganAt: number;
  spans: FinishedSpan[];
  left: number;
  ended: boolean;
};

/** The parent of spans that start now. */
export class Span {
  readonly trace: Trace;
  readonly id: string;
  readonly parentId: string | null;
  readonly startedAt: number;
  readonly kind: SpanKind;
  name: string;
  attributes: SpanAttributes;
  failed = false;

  constructor(
    trace: Trace,
    parentId: string | null,
    name: string,
    kind: SpanKind,
    attributes: SpanAttributes,
  ) {
    this.trace = trace;
    this.id = newTraceId(8);
    this.parentId = parentId;
    this.name = name;
    this.kind = kind;
    this.attributes = attributes;
    this.startedAt = performance.now();
  }

  set(attributes: SpanAttributes): void {
    Object.assign(this.attributes, attributes);
  }

  finished(): FinishedSpan {
    const { trace, id, parentId, name, kind, failed, attributes } = this;
    const at = (moment: number) => trace.beganAtMs + (moment - trace.beganAt);
    return {
      traceId: trace.id,
      spanId: id,
      parentId,
      name,
      kind,
      startMs: at(this.startedAt),
      endMs: at(performance.now()),
      failed,
      attributes,
    };
  }
}

/** Never all zeros, which would mean no id. */
function newTraceId(bytes: 8 | 16): string {
  const id = randomHex(bytes);
  return /^0+$/.test(id) ? newTraceId(bytes) : id;
}

export type Remote = { traceId: string; spanId: string; sampled: boolean };

/** Parses the W3C header `traceparent`; null if it is not valid. */
export function parseTraceparent(header: string | undefined): Remote | null {
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header ?? "");
  const [, version, traceId = "", spanId = "", flags = "", rest] = match ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/**
 * As `traceidratio` of OpenTelemetry, so that services with the same ratio keep the same traces: by the last
 * 56 bits.
 */
export function isPicked(traceId: string, ratio: number): boolean {
  // The highest ids are rounded up to 2^56.
  return ratio >= 1 || Number.parseInt(traceId.slice(-14), 16) < ratio * 2 ** 56;
}

type TracerOptions = {
  /** The share of traces to keep, 0 to 1. */
  ratio: number;
  /** Receives the spans of a trace when its local part has ended. */
  keep: (spans: readonly FinishedSpan[]) => void;
  /** Counts spans beyond the limit of a trace. */
  dropped: (count: number) => void;
};

/** The name of an error in a span: a code of ours or of the database, never its message. */
function errorType(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  const known = typeof code === "string" ? code : name;
  return typeof known === "string" && /^\w{1,60}$/.test(known) ? known : "error";
}

/** Traces the work for a request or a job (distributed tracing). Exists only if a collector is configured. */
export class Tracer {
  readonly #current = new AsyncLocalStorage<Span>();
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /**
   * Begins a trace, or the local part of the one that `remote` names; null if it is not picked. A caller may
   * opt out of the trace, but not into it: otherwise callers would choose the share.
   */
  begin(name: string, kind: SpanKind, attributes: SpanAttributes, remote: Remote | null): Span | null {
    if (remote?.sampled === false) return null;
    const id = remote?.traceId ?? newTraceId(16);
    if (!isPicked(id, this.#options.ratio)) return null;
    const trace: Trace = {
      id,
      beganAtMs: Date.now(),
      beganAt: performance.now(),
      spans: [],
      left: maxSpansOfATrace,
      ended: false,
    };
    return new Span(trace, remote?.spanId ?? null, name, kind, attributes);
  }

  /** Ends the local part of a trace. Later spans of it are ignored. */
  end(span: Span, keep = true): void {
    const { trace } = span;
    if (trace.ended) return;
    trace.ended = true;
    if (keep) this.#options.keep([...trace.spans, span.finished()]);
    trace.spans = [];
  }

  /** Everything that `work` does or causes belongs to the span. */
  within<T>(span: Span, work: () => T): T {
    return this.#current.run(span, work);
  }

  /** Runs `work` in a new trace, which is dropped if `keep` returns false. */
  async root<T>(
    name: string,
    kind: SpanKind,
    attributes: SpanAttributes,
    work: (span: Span | null) => Promise<T>,
    keep: (result: T) => boolean = () => true,
  ): Promise<T> {
    const span = this.begin(name, kind, attributes, null);
    if (span === null) return work(null);
    let kept = true;
    try {
      const result = await this.#follow(span, work);
      kept = keep(result);
      return result;
    } finally {
      this.end(span, kept);
    }
  }

  /** A span of the current trace; just runs `work` without one. */
  async part<T>(
    name: string,
    kind: SpanKind,
    attributes: SpanAttributes,
    work: (span: Span | null) => Promise<T>,
  ): Promise<T> {
    const parent = this.#current.getStore();
    if (parent === undefined || parent.trace.ended) return work(null);
    const span = new Span(parent.trace, parent.id, name, kind, attributes);
    return this.#follow(span, work).finally(() => this.#finish(span));
  }

  async #follow<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      return await this.within(span, () => work(span));
    } catch (error) {
      span.failed = true;
      span.set({ "error.type": errorType(error) });
      throw error;
    }
  }

  #finish(span: Span): void {
    const { trace } = span;
    if (trace.ended) return;
    if (trace.left === 0) {
      this.#options.dropped(1);
      return;
    }
    trace.left -= 1;
    trace.spans.push(span.finished());
  }

  /** The header that lets a called service continue the trace. */
  traceparent(): string | null {
    const span = this.#current.getStore();
    return span === undefined || span.trace.ended ? null : `00-${span.trace.id}-${span.id}-01`;
  }
}
