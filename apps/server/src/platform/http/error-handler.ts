import { defaultPageLimit, maxPageLimit } from "@assay/contract/page";
import { isList, type RouteDefinition } from "@assay/contract/route";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { isUnavailable } from "../db/errors.ts";
import { ApiError } from "../kernel/api-error.ts";
import { describeError, type Log } from "../lib/log.ts";
import { isOpenedByBrowser, sendNothingHere } from "./missing-page.ts";
import { noteFailure } from "./trace-request.ts";

declare module "fastify" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: merged into the declaration of Fastify; a type cannot be.
  interface FastifyContextConfig {
    definition?: RouteDefinition;
  }
}

/**
 * Renders every failure of the service. `meant` is the route of the path, if the request failed before
 * routing.
 */
export function createErrorHandler(options: { publicUrl: () => string; log: Log }) {
  return function renderError(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    meant?: RouteDefinition,
  ): FastifyReply {
    const failure = toApiError(error, request.routeOptions);
    noteFailure(request, failure.code);
    // An expected error is an answer, whatever its status. Only an unexpected one is a fault.
    if (failure.status >= 500 && failure !== error)
      options.log.error("request failed", { requestId: request.id, ...describeError(error) });
    else if (failure.status >= 500)
      options.log.info("request refused", { requestId: request.id, code: failure.code });
    const definition = request.routeOptions?.config?.definition ?? meant;
    if (failure.code === "NOT_FOUND" && definition === undefined && isOpenedByBrowser(request))
      return sendNothingHere(request, reply);
    const list = definition && isList(definition) ? { limit: limitInEffect(queryOf(request)) } : null;
    return reply
      .code(failure.status)
      .headers(failure.headers)
      .header("content-type", "application/json; charset=utf-8")
      .send(writeFailure(failure, options.publicUrl(), list));
  };
}

/** The framework has not parsed the query if it could not parse the path. */
function queryOf({ query, url }: FastifyRequest): unknown {
  return query ?? Object.fromEntries(new URLSearchParams(url.split("?")[1]));
}

/** The envelope of a failure, with `pagination` for a list. */
export function writeFailure(
  failure: ApiError,
  publicUrl: string,
  list: { limit: number } | null = null,
): string {
  const { code, message, hint } = failure;
  return JSON.stringify({
    data: null,
    error: { code, message, hint, docs: `${publicUrl}/docs/errors#${code}` },
    ...(list === null ? {} : { pagination: { limit: list.limit, has_more: false, next_cursor: null } }),
  });
}

/** The message for a body of a type that the route does not accept. */
export function wrongBody(definition: RouteDefinition | undefined): { message: string; hint: string } {
  return definition?.upload === undefined
    ? { message: "The body must be JSON.", hint: "Send `Content-Type: application/json`." }
    : {
        message: "The body must be a picture.",
        hint: `Send its bytes, with one of these as \`Content-Type\`: ${definition.upload.join(", ")}.`,
      };
}

/** Translates errors of the framework's parsers and of the database into the contract's codes. */
function toApiError(error: unknown, { bodyLimit, config }: FastifyRequest["routeOptions"]): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as FastifyError;
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("PAYLOAD_TOO_LARGE", {
        message: `The request body is larger than ${bodyLimit / 1024} KiB.`,
      });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new ApiError("BAD_REQUEST", wrongBody(config?.definition));
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ApiError("BAD_REQUEST", { message: "Content-Length does not match the body." });
    case "FST_ERR_BAD_URL":
      return new ApiError("BAD_REQUEST", {
        message: "The path is not a valid URL path.",
        hint: "Write a percent sign as `%25`, and percent-encode other characters as UTF-8.",
      });
  }
  if (isUnavailable(error)) return new ApiError("SERVICE_UNAVAILABLE", { headers: { "retry-after": "2" } });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500 && code?.startsWith("FST_")) {
    return new ApiError("BAD_REQUEST");
  }
  return new ApiError("INTERNAL_SERVER_ERROR");
}

export function limitInEffect(query: unknown): number {
  const given = Number((query as { limit?: unknown } | null)?.limit ?? defaultPageLimit);
  return Number.isInteger(given) && given >= 1 && given <= maxPageLimit ? given : defaultPageLimit;
}
