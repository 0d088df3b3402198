import type { IncomingMessage, ServerResponse } from "node:http";
import { isList } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { ApiError } from "../kernel/api-error.ts";
import { limitInEffect, writeFailure } from "./error-handler.ts";
import { pathOf, pathPattern } from "./known-paths.ts";
import { standardHeaders } from "./standard-headers.ts";

const listPaths = routes
  .filter((route) => route.method === "GET" && isList(route))
  .map((route) => pathPattern(route.path));

/** Those that are refused together should not return together. */
const retryAfterSeconds = [1, 2, 3];
let turn = 0;

export function overloadError(): ApiError {
  turn = (turn + 1) % retryAfterSeconds.length;
  return new ApiError("SERVICE_UNAVAILABLE", {
    message: "The service has more to do than it can.",
    hint: "Nothing was done. Try again after the time in `Retry-After`, then less and less often.",
    headers: { "retry-after": String(retryAfterSeconds[turn]) },
  });
}

/** The answer of the error handler, for a request that the framework does not get to see: what it does for each would cost more than the rest. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  failure: ApiError,
  { requestId, publicUrl }: { requestId: string; publicUrl: string },
): void {
  const { method, url = "" } = request;
  const isOfList = method === "GET" && listPaths.some((pattern) => pattern.test(pathOf(url)));
  const query = isOfList ? Object.fromEntries(new URLSearchParams(url.split("?")[1])) : null;
  const body = Buffer.from(
    writeFailure(failure, publicUrl, query === null ? null : { limit: limitInEffect(query) }),
  );
  response.writeHead(failure.status, {
    ...standardHeaders(requestId, publicUrl),
    ...failure.headers,
    // What is still to come of a body would be read for nothing.
    ...(request.complete ? {} : { connection: "close" }),
    "content-type": "application/json; charset=utf-8",
    "content-length": body.length,
  });
  response.end(body);
}
