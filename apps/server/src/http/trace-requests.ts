import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseTraceparent, type Span, type Tracer } from "../lib/tracer.ts";
import { probePaths } from "./health.ts";

const spans = new WeakMap<FastifyRequest, Span>();

/** Follows each request from its headers to the end of its answer. To be called before other hooks are added, so that it encloses them. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook("onRequest", (request, reply, done) => {
    const route = request.routeOptions.url;
    // A socket lives for as long as a verification; what is done for it belongs to no request.
    if (request.headers.upgrade !== undefined || probePaths.has(route ?? "")) return done();
    const header = request.headers.traceparent;
    const span = tracer.begin(
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
    if (span === null) return done();
    spans.set(request, span);
    reply.raw.once("close", () => {
      const status = reply.raw.statusCode;
      if (reply.raw.writableFinished) span.set({ "http.response.status_code": status });
      else span.set({ "error.type": "client_gone" });
      span.failed = reply.raw.writableFinished && status >= 500;
      tracer.end(span);
    });
    tracer.within(span, done);
  });
}

function routeName(request: FastifyRequest): { "assay.route"?: string } {
  const { definition } = request.routeOptions.config;
  return definition === undefined ? {} : { "assay.route": definition.id };
}

/** Notes the code of the failure that a request is answered with. */
export function noteFailure(request: FastifyRequest, code: string): void {
  spans.get(request)?.set({ "error.type": code });
}
