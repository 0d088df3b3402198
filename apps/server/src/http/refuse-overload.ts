import type { IncomingMessage, ServerResponse } from "node:http";
import { isList } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { ApiError } from "../kernel/api-error.ts";
import { limitInEffect, writeFailure } from "./error-handler.ts";
import { pathOf, pathPattern } from "./known-paths.ts";
import { standardHeaders } from "./standard-headers.ts";

/** Seconds after which a refused client may try again; in turn, so that those refused together do not return together. */
const retryAfterSeconds = [1, 2, 3];

const listPaths = routes
  .filter((route) => route.method === "GET" && isList(route))
  .map((route) => pathPattern(route.path));

export function overloadError(turn: number): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", {
    message: "The service has more to do than it can.",
    hint: "Nothing was done. Try again after the time in `Retry-After`, then less and less often.",
    headers: { "retry-after": String(retryAfterSeconds[turn % retryAfterSeconds.length]) },
  });
}

/**
 * Answers a request that there is no room for: the same answer as the error handler's, made ahead of time and sent before the
 * framework sees the request. It must cost next to nothing, or refusing would take what serving needs. The connection stays; a body is
 * thrown away as it comes.
 */
export function createOverloadRefusal(publicUrl: () => string) {
  let madeFor: string | null = null;
  let body = "";
  let heads: string[][] = [];
  let turn = 0;
  const prepare = (url: string) => {
    madeFor = url;
    body = inAscii(writeFailure(overloadError(0), url));
    const { "x-request-id": _, ...standard } = standardHeaders("", url);
    heads = retryAfterSeconds.map((_seconds, turn) => [
      ...Object.entries({
        ...standard,
        ...overloadError(turn).headers,
        "content-type": "application/json; charset=utf-8",
      }).flat(),
      "content-length",
    ]);
  };
  return (request: IncomingMessage, response: ServerResponse, requestId: string): void => {
    const url = publicUrl();
    if (url !== madeFor) prepare(url);
    turn = (turn + 1) % heads.length;
    const { method, url: target = "" } = request;
    const isListed = method === "GET" && listPaths.some((pattern) => pattern.test(pathOf(target)));
    const text = isListed
      ? inAscii(writeFailure(overloadError(turn), url, { limit: limitInEffect(queryOf(target)) }))
      : body;
    const head = heads[turn] ?? [];
    response.writeHead(503, head.concat(String(text.length), "x-request-id", requestId));
    response.end(text, "latin1");
  };
}

/** Characters and bytes are then as many, and nothing has to be encoded when it is sent. */
function inAscii(json: string): string {
  return json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function queryOf(target: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(target.split("?")[1]));
}
