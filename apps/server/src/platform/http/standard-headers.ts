import type { IncomingMessage } from "node:http";
import { randomHex } from "../kernel/ids.ts";

const requestIdPattern = /^[A-Za-z0-9_-]{8,64}$/;

/** Headers of every answer. Pages and assets relax the policy and the caching. */
export function standardHeaders(requestId: string, publicUrl: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    ...(publicUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}

export function newRequestId(): string {
  return `req_${randomHex(12)}`;
}

/** The id of the client, if it is valid, or a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIdPattern.test(given) ? given : newRequestId();
}
