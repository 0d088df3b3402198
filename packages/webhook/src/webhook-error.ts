/** What was wrong with a delivery or with the options. */
export type WebhookErrorCode =
  | "options_invalid"
  | "body_already_parsed"
  | "signature_missing"
  | "signature_malformed"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "signature_mismatch"
  | "body_not_encrypted"
  | "key_unknown"
  | "decryption_failed"
  | "event_malformed";

/**
 * The only error that this package throws. Answer a delivery that caused it with 400; it is sent again later.
 */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.name = "WebhookError";
    this.code = code;
  }
}
