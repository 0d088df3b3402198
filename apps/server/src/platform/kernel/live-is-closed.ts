import { ApiError } from "./api-error.ts";

/** The refusal of a live request before an owner has gone live. */
export function liveIsClosed(): ApiError {
  return new ApiError("ORGANIZATION_NOT_READY", {
    message: "The organization has not gone live yet.",
    hint: "Use the sandbox until an owner has gone live. GET /v1/auth/orgs/go-live lists what is missing, POST /v1/auth/orgs/go-live goes live.",
  });
}
