import type { DeliveryError, DeliveryStatus } from "@assay/contract/webhooks";

/** What kept a try from succeeding, and what to do about it. */
const errorTexts: Record<DeliveryError, string> = {
  status_not_2xx: "Your server answered, but not with success.",
  redirect_not_followed: "Your server pointed somewhere else. Change the address of the endpoint instead.",
  timeout: "Your server did not answer within 15 seconds.",
  name_not_resolved: "The name of your server leads nowhere.",
  address_refused: "The name leads to an address that is not on the public internet.",
  connection_failed: "Nobody listens there, or the connection was cut.",
  tls_failed: "The certificate of your server is not valid for its name, has expired, or is not trusted.",
  response_invalid: "What came back was no answer that can be read.",
  no_active_key: "The endpoint had no active encryption key, so nothing was sent.",
  endpoint_deleted: "The endpoint was deleted.",
  consent_withdrawn: "The person withdrew their consent before anybody had received it.",
};

export function errorText(error: DeliveryError): string {
  return errorTexts[error];
}

const stateTexts: Record<DeliveryStatus, string> = {
  pending: "Waiting",
  delivering: "Being sent",
  succeeded: "Delivered",
  failed: "Failed",
};

export function stateText(status: DeliveryStatus): string {
  return stateTexts[status];
}

/** In a row of a table: the status that came back, or why none did. */
export function answerText(statusCode: number | null, error: DeliveryError | null): string {
  if (statusCode !== null) return String(statusCode);
  return error === null ? "–" : errorTexts[error];
}
