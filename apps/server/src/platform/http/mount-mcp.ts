import { apiKeyForm } from "@assay/contract/facts";
import { bodyLimitOf, type Method, scopes } from "@assay/contract/route";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import type { KeyCaller } from "../kernel/caller.ts";
import { bearerOf, type IdentifyOptions, isOwnOrigin } from "./identify.ts";

/** Where agents call, with the Model Context Protocol over Streamable HTTP. */
export const mcpPath = "/mcp";

/** Where OAuth clients look for what a resource wants (RFC 9728), with or without the path of the resource behind it. */
const resourceMetadataPath = "/.well-known/oauth-protected-resource";
/** Where they look next: for a server that would give them a token. */
const authorizationServerPaths = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];
const noOAuth =
  "Send an API key as `Authorization: Bearer kk_…`; a member of the organization makes one in the dashboard. There is no OAuth here, so no program can sign in by itself.";

/** As for every route that an API key may call. */
const bodyLimit = bodyLimitOf({ access: { scope: "sessions:write" } });

/** A call of one of our own routes in the name of whoever called this one. */
export type ForwardedCall = {
  method: Method;
  /** Path and query. */
  url: string;
  body: unknown;
  idempotencyKey: string | null;
};
/** The answer as it would have left, envelope and all; an empty text where there is no body. */
export type ForwardedAnswer = { status: number; text: string };

export type McpRequest = {
  caller: KeyCaller;
  /** Names this answer in the logs. */
  requestId: string;
  body: Buffer;
  header(name: string): string | null;
  /** Goes through everything that a request from outside goes through: access, validation, limits, idempotency, logs, metrics. */
  forward(call: ForwardedCall): Promise<ForwardedAnswer>;
  /** Gives up the slot of the request, for an answer that only waits for others. */
  letGo(): void;
  /** Aborted when nobody is there any more to hear the answer. */
  gone: AbortSignal;
};

export type McpAnswer = { status: number; body: object | null };

type McpOptions = IdentifyOptions & { answer: (request: McpRequest) => Promise<McpAnswer> };

/**
 * The endpoint for agents. It speaks for API keys only: no cookie, no user. What goes wrong before the message is read is told by the
 * status and the envelope, as everywhere; what is in the message is answered by `answer`.
 */
export function mountMcp(app: FastifyInstance, options: McpOptions): void {
  const callers = new WeakMap<FastifyRequest, KeyCaller>();
  mountMetadata(app, options.publicUrl);
  void app.register(async (scope) => {
    // The message is parsed where a failure can be told in terms of the protocol.
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
            // The key is looked up again, since a tool may have waited, and counted by the route that it is forwarded to.
            counted = true;
            return forward(app, request, call);
          },
          letGo: () => options.admission.letGo(request),
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

/** Hosts that know only OAuth learn here that they need an API key, which a person has to give them. */
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
  const caller = admission.learn(request, shown);
  return caller?.kind === "key" ? caller : null;
}

/** A page that made its own name lead to this address could otherwise have a browser call it (DNS rebinding). */
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
