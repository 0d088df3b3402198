import type { DeliveryError } from "@assay/contract/webhooks";

/** What kept an attempt from succeeding, and what to do about it. */
const errorTexts: Record<DeliveryError, string> = {
  status_not_2xx: "Your server returned an error status.",
  redirect_not_followed: "Redirects aren't followed. Change the endpoint URL instead.",
  timeout: "Your server did not respond within 15 seconds.",
  name_not_resolved: "DNS lookup failed.",
  address_refused: "The host name resolves to a private address.",
  connection_failed: "Connection refused or reset.",
  tls_failed: "The TLS certificate is expired, untrusted or for another host name.",
  response_invalid: "The response was not valid HTTP.",
  no_active_key: "The endpoint had no active encryption key, so nothing was sent.",
  endpoint_deleted: "The endpoint was deleted.",
  consent_withdrawn: "The person withdrew consent before it was delivered.",
};

export function errorText(error: DeliveryError): string {
  return errorTexts[error];
}

/** In a row of a table: the status that came back, or why none did. */
export function answerText(statusCode: number | null, error: DeliveryError | null): string {
  if (statusCode !== null) return String(statusCode);
  return error === null ? "–" : errorTexts[error];
}
