import { randomUUID } from "node:crypto";
import type { Config } from "./config.ts";
import type { Sender } from "./delivery/webhooks/delivery-worker.ts";
import type { Log } from "./platform/lib/log.ts";
import type { Metrics } from "./platform/lib/metrics.ts";
import { OtlpExporter } from "./platform/lib/otlp-exporter.ts";
import { buildVersion } from "./platform/lib/process-metrics.ts";
import type { SafeFetch } from "./platform/lib/safe-fetch.ts";
import { Tracer } from "./platform/lib/tracer.ts";
import type { FaceJudge } from "./verification/face/face-judge.ts";

type Tracing = { tracer: Tracer; exporter: OtlpExporter };

/** Null without a collector: then nothing is traced. */
export function openTracing(config: Config, role: string, log: Log, metrics: Metrics): Tracing | null {
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

// Spans for more than requests, statements and jobs. Without a tracer each function returns its argument.

/** Passes the trace on to the receiver of a webhook. */
export function traceFetch(safeFetch: SafeFetch, tracer: Tracer | null): SafeFetch {
  if (tracer === null) return safeFetch;
  return {
    ...safeFetch,
    post: (url, request) => {
      const traceparent = tracer.traceparent();
      const headers = traceparent === null ? request.headers : { ...request.headers, traceparent };
      return safeFetch.post(url, { ...request, headers });
    },
  };
}

/** Each delivery attempt starts a trace: the event was published long before, perhaps by another process. */
export function traceSender(sender: Sender, tracer: Tracer | null): Sender {
  if (tracer === null) return sender;
  return {
    ...sender,
    send: (delivery, secret, now) =>
      tracer.root("deliver webhook", "client", { "assay.event_type": delivery.eventType }, async (span) => {
        const sent = await sender.send(delivery, secret, now);
        if (span === null) return sent;
        const error = sent.kind === "answered" ? sent.result.error : null;
        const status = sent.kind === "answered" ? sent.result.statusCode : null;
        span.failed = error !== null;
        span.set({
          "assay.outcome": sent.kind,
          ...(status === null ? {} : { "http.response.status_code": status }),
          ...(error === null ? {} : { "error.type": error }),
        });
        return sent;
      }),
  };
}

export function traceJudge(judge: FaceJudge, tracer: Tracer | null): FaceJudge {
  if (tracer === null) return judge;
  return {
    ...judge,
    judge: (input) =>
      tracer.root("judge face", "internal", {}, async (span) => {
        const verdict = await judge.judge(input);
        span?.set({ "assay.outcome": verdict.kind === "failed" ? verdict.code : verdict.kind });
        return verdict;
      }),
  };
}
