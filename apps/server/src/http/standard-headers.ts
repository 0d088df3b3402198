import { randomBytes } from "node:crypto";

/** Headers of every answer, whoever gives it. Pages and assets widen the policy and the caching for themselves. */
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
  return `req_${randomBytes(12).toString("hex")}`;
}
