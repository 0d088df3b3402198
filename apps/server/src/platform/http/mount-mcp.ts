import { apiKeyForm } from "@assay/contract/facts";
import { bodyLimitOf, type Method, scopes } from "@assay/contract/route";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import type { KeyCaller } from "../kernel/caller.ts";
import { bearerOf, type IdentifyOptions, isOwnOrigin } from "./identify.ts";

/** The endpoint for agents: Model Context Protocol over Streamable HTTP. */
export const mcpPath = "/mcp";

/**
 * Where OAuth clients look up the requirements of a resource (RFC 9728), with or without the path of the
 * resource.
 */
const resourceMetadataPath = "/.well-known/oauth-protected-resource";
/** Where they look next, for an authorization server. */
const authorizationServerPaths = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];
const noOAuth =
  "Send an API key as `Authorization: Bearer kk_…`. A member of the organization creates one in the dashboard. This service has no OAuth, so a program cannot sign in by itself.";

/** As for every route that an API key may call. */
const bodyLimit = bodyLimitOf({ access: { scope: "sessions:write" } });

/** A call of one of our routes on behalf of the caller. */
export type ForwardedCall = {
  method: Method;
  /** Path and query. */
  url: string;
  body: unknown;
  idempotencyKey: string | null;
};
/** The answer as the route renders it, including the envelope; empty without a body. */
export type ForwardedAnswer = { status: number; text: string };

export type McpRequest = {
  caller: KeyCaller;
  /** Identifies this answer in the logs. */
  requestId: string;
  body: Buffer;
  header(name: string): string | null;
  /**
   * Passes everything that an external request passes: access, validation, limits, idempotency, logs,
   * metrics.
   */
  forward(call: ForwardedCall): Promise<ForwardedAnswer>;
  /** Releases the slot of the request, for an answer that only waits. */
  releaseSlot(): void;
  /** Aborted when the client has disconnected. */
  gone: AbortSignal;
};

export type McpAnswer = { status: number; body: object | null };

type McpOptions = IdentifyOptions & { answer: (request: McpRequest) => Promise<McpAnswer> };

/**
 * The endpoint for agents. It accepts API keys only: no cookie, no user. Failures before the message is read
 * get a status and the envelope, as everywhere; `answer` handles the message.
 */
export function mountMcp(app: FastifyInstance, options: McpOptions): void {
  const callers = new WeakMap<FastifyRequest, KeyCaller>();
  mountMetadata(app, options.publicUrl);
  void app.register(async (scope) => {
    // `answer` parses the message, so that a parse error is reported in the format of the protocol.
    scope.removeContentTypeParser("application/json");
    scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
      done(null, body),
    );
    scope.route({
      method: "POST",
      url: mcpPath,
      bodyLimit,
      onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
        refuseForeignPage(request, options.publicUrl());
        const caller = await findCaller(request, options);
        if (caller === null) {
          const metadata = `${options.publicUrl()}${resourceMetadataPath}${mcpPath}`;
          reply.header("www-authenticate", `Bearer resource_metadata="${metadata}"`);
          throw new ApiError("UNAUTHORIZED", { hint: noOAuth });
        }
        if (caller.frozen) throw new ApiError("ORGANIZATION_FROZEN");
        callers.set(request, caller);
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const caller = callers.get(request);
        if (caller === undefined) throw new ApiError("UNAUTHORIZED");
        const gone = new AbortController();
        reply.raw.once("close", () => gone.abort());
        let counted = false;
        const answer = await options.answer({
          caller,
          requestId: request.id,
          body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
          header: (name) => oneOf(request.headers[name]),
          forward: (call) => {
            // The key is looked up again, because a tool may have waited. The forwarded route counts its use.
            counted = true;
            return forward(app, request, call);
          },
          releaseSlot: () => options.admission.releaseSlot(request),
          gone: gone.signal,
        });
        if (!counted) options.onKeyUsed(caller.keyId);
        reply.code(answer.status);
        if (answer.body === null) return reply.send();
        return reply
          .header("content-type", "application/json; charset=utf-8")
          .send(JSON.stringify(answer.body));
      },
    });
  });
}

/** Tells hosts that support only OAuth that they need an API key, which a person must provide. */
function mountMetadata(app: FastifyInstance, publicUrl: () => string): void {
  for (const path of [resourceMetadataPath, `${resourceMetadataPath}${mcpPath}`])
    app.get(path, async (_request, reply) =>
      reply
        .header("content-type", "application/json; charset=utf-8")
        .header("access-control-allow-origin", "*")
        .send(
          JSON.stringify({
            resource: `${publicUrl()}${mcpPath}`,
            resource_name: "Assay",
            bearer_methods_supported: ["header"],
            scopes_supported: scopes,
            resource_documentation: `${publicUrl()}/docs/agents`,
          }),
        ),
    );
  for (const path of authorizationServerPaths)
    for (const suffix of ["", mcpPath])
      app.get(`${path}${suffix}`, async () => {
        throw new ApiError("NOT_FOUND", {
          message: "This service has no authorization server.",
          hint: noOAuth,
        });
      });
}

async function findCaller(
  request: FastifyRequest,
  { authenticator, admission }: McpOptions,
): Promise<KeyCaller | null> {
  const secret = bearerOf(request);
  const shown = secret?.startsWith(apiKeyForm.prefix) ? await authenticator.byKey(secret) : null;
  const caller = admission.recordOwner(request, shown);
  return caller?.kind === "key" ? caller : null;
}

/**
 * Prevents DNS rebinding: a foreign page could point its own name at this address and let the browser call
 * it.
 */
function refuseForeignPage(request: FastifyRequest, publicUrl: string): void {
  const { origin } = request.headers;
  if (origin === undefined || isOwnOrigin(origin, request, publicUrl)) return;
  throw new ApiError("FOREIGN_ORIGIN", {
    message: "A page of another site must not call this address.",
    hint: "Connect from a program that sends no `Origin`.",
  });
}

async function forward(
  app: FastifyInstance,
  request: FastifyRequest,
  { method, url, body, idempotencyKey }: ForwardedCall,
): Promise<ForwardedAnswer> {
  const answer = await app.inject({
    method,
    url,
    remoteAddress: request.ip,
    headers: {
      authorization: request.headers.authorization ?? "",
      "user-agent": request.headers["user-agent"] ?? "",
      "x-request-id": request.id,
      ...(idempotencyKey === null ? {} : { "idempotency-key": idempotencyKey }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, text: answer.payload };
}

function oneOf(header: string | string[] | undefined): string | null {
  return typeof header === "string" ? header.trim() : null;
}
