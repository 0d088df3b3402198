import type { FastifyInstance, FastifyReply } from "fastify";
import type { AnsweredRequest } from "../kernel/request-info.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Admission } from "./admission.ts";
import { failureOf } from "./trace-request.ts";

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Watch = {
  log: Log;
  metrics: Metrics;
  admission: Admission;
  onAnswered: (request: AnsweredRequest) => void;
};

/** Times and logs every request. The returned function counts those that were started. */
export function watchRequests(
  app: FastifyInstance,
  { log, metrics, admission, onAnswered }: Watch,
): (reply: FastifyReply) => void {
  const requestSeconds = metrics.histogram(
    "assay_http_request_seconds",
    "Time to answer, by route and status.",
    latencyBuckets,
  );
  const requests = { open: 0 };
  metrics.gaugeOf("assay_http_requests_in_flight", "Requests being answered.", () => requests.open);
  const close = () => {
    requests.open -= 1;
  };
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.config.definition?.id ?? request.routeOptions.url ?? "none";
    const status = reply.statusCode;
    requestSeconds(reply.elapsedTime / 1000, { route, status: String(status) });
    // The path is not logged: it may hold a session id. The route's name is enough.
    log.info("request", {
      requestId: request.id,
      method: request.method,
      route,
      status,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    });
    const keyId = admission.keyOf(request);
    if (keyId !== null)
      onAnswered({
        keyId,
        requestId: request.id,
        method: request.method,
        url: request.url,
        status,
        code: failureOf(request),
        milliseconds: reply.elapsedTime,
        isReplayed: reply.hasHeader("idempotent-replayed"),
      });
    done();
  });
  return (reply) => {
    requests.open += 1;
    reply.raw.once("close", close);
  };
}
