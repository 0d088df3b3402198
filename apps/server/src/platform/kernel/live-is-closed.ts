import { ApiError } from "./api-error.ts";

/** What whoever asks for live hears before an owner has opened it. */
export function liveIsClosed(): ApiError {
  return new ApiError("ORGANIZATION_NOT_READY", {
    message: "The organization has not gone live yet.",
    hint: "Work in the sandbox until an owner has opened live. GET /v1/auth/orgs/go-live tells what is missing, POST /v1/auth/orgs/go-live opens it.",
  });
}
