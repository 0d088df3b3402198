import type { DeliveryError } from "@assay/contract/webhooks";
import { t } from "../i18n/words.ts";

/** What kept an attempt from succeeding, and what to do about it. */
export function errorText(error: DeliveryError): string {
  return t.webhooks.error[error];
}

/** In a row of a table: the status that came back, or why none did. */
export function answerText(statusCode: number | null, error: DeliveryError | null): string {
  if (statusCode !== null) return String(statusCode);
  return error === null ? "–" : errorText(error);
}
