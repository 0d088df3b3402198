import type { FastifyReply, FastifyRequest } from "fastify";
import { parseTraceparent, type Span, type Tracer } from "../lib/tracer.ts";
import { probePaths } from "./health.ts";

const spans = new WeakMap<FastifyRequest, Span>();
const failure = Symbol("failure");
type Failed = FastifyRequest & { [failure]?: string };

/** Traces a request from its slot to the end of its answer; `goOn` runs within its span. */
export function traceRequest(
  tracer: Tracer,
  request: FastifyRequest,
  { raw }: FastifyReply,
  goOn: () => void,
): void {
  const route = request.routeOptions.url;
  // A socket lives as long as a verification, so its work belongs to no request.
  const isFollowed = request.headers.upgrade === undefined && !probePaths.has(route ?? "");
  const span = isFollowed ? beginSpan(tracer, request, route) : null;
  if (span === null) {
    goOn();
    return;
  }
  spans.set(request, span);
  raw.once("close", () => {
    if (raw.writableFinished) span.set({ "http.response.status_code": raw.statusCode });
    else span.set({ "error.type": "client_gone" });
    span.failed = raw.writableFinished && raw.statusCode >= 500;
    tracer.end(span);
  });
  tracer.within(span, goOn);
}

function beginSpan(tracer: Tracer, request: FastifyRequest, route: string | undefined): Span | null {
  const header = request.headers.traceparent;
  return tracer.begin(
    route === undefined ? request.method : `${request.method} ${route}`,
    "server",
    {
      "http.request.method": request.method,
      ...(route === undefined ? {} : { "http.route": route }),
      "assay.request_id": request.id,
      ...routeName(request),
    },
    parseTraceparent(typeof header === "string" ? header : undefined),
  );
}

function routeName(request: FastifyRequest): { "assay.route"?: string } {
  const { definition } = request.routeOptions.config;
  return definition === undefined ? {} : { "assay.route": definition.id };
}

export function noteFailure(request: Failed, code: string): void {
  request[failure] = code;
  spans.get(request)?.set({ "error.type": code });
}

export function failureOf({ [failure]: code }: Failed): string | null {
  return code ?? null;
}
