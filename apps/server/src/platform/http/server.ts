import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { ApiError, noSuchRoute } from "../kernel/api-error.ts";
import type { Tracer } from "../lib/tracer.ts";
import type { Admission } from "./admission.ts";
import { compressAnswer } from "./compress-answer.ts";
import { createErrorHandler, wrongBody } from "./error-handler.ts";
import { probePaths } from "./health.ts";
import { KnownPaths, pathOf } from "./known-paths.ts";
import { servesUpgrade } from "./mount-socket.ts";
import { parseBody, refuseOtherCharset } from "./parse-body.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";
import { createUnparsedRefusal, type LatestAnswers } from "./refuse-unparsed.ts";
import { requestIdOf, standardHeaders } from "./standard-headers.ts";
import { traceRequest } from "./trace-request.ts";
import { type Watch, watchRequests } from "./watch-requests.ts";

/** The only type of the web framework that other modules use. */
export type Server = FastifyInstance;

/** For the request line and the headers together; Node's default. */
const maxHeaderBytes = 16 * 1024;
/** For a body on an unknown route. */
const maxBodyBytes = 64 * 1024;
/**
 * Time for request line and headers, for the first request counted from the start of the connection. With
 * half, a phone on a bad network may fail. With twice, a client that sends single bytes holds its connection
 * twice as long.
 */
const headersMs = 15_000;
/**
 * Time for the whole request. With half, a body of 64 KiB over a slow network may fail. With twice, a slow
 * body is held twice as long.
 */
const requestMs = 20_000;
/** How often connections are checked, so that these times are kept to a few seconds. */
const connectionLookMs = 5_000;

type ServerOptions = Watch & {
  tracer: Tracer | null;
  publicUrl: () => string;
  trustProxy: readonly string[];
  maxConnections: number;
  /** Whether clients should reconnect, so that a load balancer sends them elsewhere. */
  isDraining: () => boolean;
};

/**
 * The web server with everything that applies to all answers: ids, headers, limits, errors, logs, metrics.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const { log, publicUrl, trustProxy, admission, tracer, isDraining } = options;
  const renderError = createErrorHandler({ publicUrl, log });
  const knownPaths = new KnownPaths();
  const latest: LatestAnswers = new WeakMap();
  const app = Fastify({
    logger: false,
    // The framework's first hook checks for `Host`, so that a request without it gets the envelope.
    http: {
      shouldUpgradeCallback: servesUpgrade,
      requireHostHeader: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      connectionsCheckingInterval: connectionLookMs,
    },
    trustProxy: trustProxy.length > 0 ? [...trustProxy] : false,
    // We answer during shutdown (see below), not the framework.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    exposeHeadRoutes: true,
    requestTimeout: requestMs,
    bodyLimit: maxBodyBytes,
    connectionTimeout: 0,
    keepAliveTimeout: 65_000,
    // No parameter can be longer than the headers. Each route has its own limit.
    routerOptions: { maxParamLength: maxHeaderBytes, ignoreTrailingSlash: true },
    genReqId: requestIdOf,
    // Hooks do not run for a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      reply.headers(standardHeaders(request.id, publicUrl()));
      const meant = knownPaths.routeAt(request.method, pathOf(request.url));
      log.info("request", { requestId: request.id, method: request.method, route: "none", status: 400 });
      renderError(error, request as never, reply as never, meant);
    },
    clientErrorHandler: createUnparsedRefusal({ publicUrl, log, latest }),
  });
  limitConnections(app, options);
  app.server.on("request", (request, response) => latest.set(request.socket, response));
  // An expectation other than 100-continue is ignored instead of refused without the envelope.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));

  app.addHook("onRoute", ({ method, url, config }) => knownPaths.add(method, url, config?.definition));

  readJsonBodies(app, admission);
  closeSilentConnections(app);
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  const countRequest = watchRequests(app, options);
  const pipelined = new PipelinedRequests();
  // One hook of each kind for all requests: the overhead of a hook exceeds the work in it.
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(standardHeaders(request.id, publicUrl()));
    const begin = () => {
      countRequest(reply);
      const refusal = refusalOf(request, { knownPaths, closing });
      if (request.is404 && refusal === null) sendMethods(knownPaths, request.url, reply);
      else done(refusal ?? undefined);
    };
    const admitted = (refusal?: ApiError) => {
      if (refusal !== undefined) done(refusal);
      else if (tracer === null) begin();
      else traceRequest(tracer, request, reply, begin);
    };
    if (bypassesAdmission(request)) admitted();
    else pipelined.enter(request.raw, reply.raw, () => admission.admit(request, reply, admitted));
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    admission.answered(request, reply);
    // A connection that stays open after its answer would delay the shutdown.
    if (closing || isDraining()) reply.header("connection", "close");
    done(null, compressAnswer(request, reply, payload));
  });
  app.setErrorHandler(renderError);
  app.setNotFoundHandler((request, reply) =>
    renderError(refuseUnknown(knownPaths, request.url), request, reply),
  );
  return app;
}

/**
 * Probes; internal calls, which run in the slot of another request; and sockets, which take a slot before
 * they open.
 */
function bypassesAdmission({ raw, routeOptions }: FastifyRequest): boolean {
  return probePaths.has(routeOptions.url ?? "") || !(raw instanceof IncomingMessage) || servesUpgrade(raw);
}

/** Bodies are JSON, complete and uncompressed, or absent. */
function readJsonBodies(app: FastifyInstance, admission: Admission): void {
  app.removeAllContentTypeParsers();
  app.addHook("preParsing", (request, _reply, payload, done) => {
    const encoding = request.headers["content-encoding"];
    if (encoding === undefined || encoding.toLowerCase() === "identity")
      return done(null, admission.bodyOf(request) ?? payload);
    const error = new ApiError("BAD_REQUEST", {
      message: "The body must not be compressed.",
      hint: "Send it without `Content-Encoding`.",
    });
    done(error as never);
  });
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, ({ headers }, body, done) => {
    if (body.length === 0) return done(null, undefined);
    try {
      refuseOtherCharset(headers["content-type"]);
      done(null, parseBody(body as Buffer));
    } catch (error) {
      done(error as never, undefined);
    }
  });
  // Only a route that declares an upload gets a file.
  app.addContentTypeParser(/^image\//, { parseAs: "buffer" }, (request, body, done) => {
    const { definition } = request.routeOptions.config;
    if (definition?.upload !== undefined) done(null, body);
    else done(new ApiError("BAD_REQUEST", wrongBody(definition)) as never, undefined);
  });
}

/** Why a request is refused; null if it is not. */
function refusalOf(
  request: FastifyRequest,
  { knownPaths, closing }: { knownPaths: KnownPaths; closing: boolean },
): ApiError | null {
  if (closing)
    return new ApiError("SERVICE_UNAVAILABLE", {
      message: "The service is shutting down.",
      headers: { "retry-after": "2" },
    });
  if (request.headers.host === undefined && request.raw.httpVersion === "1.1")
    return new ApiError("BAD_REQUEST", {
      message: "The header `Host` is missing.",
      hint: "Send `Host` with the host name of the address.",
    });
  // Before the body is parsed: it cannot change the answer.
  const isKnown =
    !request.is404 || (request.method === "OPTIONS" && methodsAt(knownPaths, request.url) !== null);
  return isKnown ? null : refuseUnknown(knownPaths, request.url);
}

/** The answer to `OPTIONS`, with or without a body. */
function sendMethods(knownPaths: KnownPaths, url: string, reply: FastifyReply): void {
  reply
    .code(204)
    .header("allow", methodsAt(knownPaths, url) ?? "")
    .send();
}

function refuseUnknown(knownPaths: KnownPaths, url: string): ApiError {
  const methods = methodsAt(knownPaths, url);
  return methods === null
    ? noSuchRoute()
    : new ApiError("METHOD_NOT_ALLOWED", { headers: { allow: methods } });
}

/** The value of `Allow` for a path, or null if there is no such path. */
function methodsAt(knownPaths: KnownPaths, url: string): string | null {
  const methods = knownPaths.methodsAt(pathOf(url));
  return methods.length === 0 ? null : [...methods, "OPTIONS"].sort().join(", ");
}

/** Beyond the limit a new connection is closed at once. Existing ones are not affected. */
function limitConnections(
  app: FastifyInstance,
  { metrics, maxConnections }: Pick<ServerOptions, "metrics" | "maxConnections">,
): void {
  app.server.maxConnections = maxConnections;
  const dropped = metrics.counter(
    "assay_http_connections_dropped_total",
    "Connections closed because of HTTP_MAX_CONNECTIONS.",
  );
  app.server.on("drop", () => dropped());
  let open = 0;
  app.server.on("connection", (socket) => {
    open += 1;
    socket.once("close", () => {
      open -= 1;
    });
  });
  metrics.gaugeOf("assay_http_connections", "Open connections, including sockets and streams.", () => open);
}

/**
 * Node does not treat a connection without any request (browsers open some in advance) as idle, so it would
 * delay the shutdown until its timeout.
 */
function closeSilentConnections(app: FastifyInstance): void {
  const silent = new Set<Socket>();
  app.server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  app.server.on("request", (request) => silent.delete(request.socket));
  app.server.on("upgrade", (request) => silent.delete(request.socket as Socket));
  app.addHook("preClose", async () => {
    for (const socket of silent) socket.destroy();
  });
}
