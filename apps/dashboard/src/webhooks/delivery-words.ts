import type { DeliveryError } from "@assay/contract/webhooks";
import { t } from "../i18n/words.ts";

/** Why an attempt failed, and what to do about it. */
export function errorText(error: DeliveryError): string {
  return t.webhooks.error[error];
}

/** For a table row: the response status, or why there is none. */
export function answerText(statusCode: number | null, error: DeliveryError | null): string {
  if (statusCode !== null) return String(statusCode);
  return error === null ? "–" : errorText(error);
}
