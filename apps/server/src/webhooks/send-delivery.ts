import { answerKeptBytes, type DeliveryError } from "@assay/contract/webhooks";
import { type SafeFetch, SafeFetchError, type SafeFetchProblem } from "../lib/safe-fetch.ts";
import type { LeasedDelivery } from "./delivery.store.ts";
import { type AttemptResult, errorOfStatus } from "./delivery.ts";
import { type Exchange, readAnswer } from "./exchange.ts";
import { headersOf, sign } from "./signing.ts";

export const attemptTimeoutMs = 15_000;

const errorOf: Record<SafeFetchProblem, DeliveryError> = {
  url_refused: "address_refused",
  address_refused: "address_refused",
  name_not_resolved: "name_not_resolved",
  connection_failed: "connection_failed",
  tls_failed: "tls_failed",
  timeout: "timeout",
  response_invalid: "response_invalid",
};

export type SendableDelivery = LeasedDelivery & { payload: string };

export type SentAttempt = AttemptResult & {
  durationMs: number;
  /** Null for a success, of which nothing has to be found out. */
  exchange: Exchange | null;
};

/** One attempt: signed now with the endpoint's current secret. Never throws; what went wrong is part of the result. */
export async function sendDelivery(
  safeFetch: SafeFetch,
  delivery: SendableDelivery,
  secret: string,
  now: Date,
): Promise<SentAttempt> {
  const startedAt = performance.now();
  const { id, event_id: eventId, event_type: eventType, payload } = delivery;
  const signatures = sign(secret, { eventId, payload }, now);
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const { status, retryAfter, refusal } = await safeFetch.post(delivery.url, {
      headers: headersOf({ id, eventId, eventType }, signatures, now),
      body: payload,
      timeoutMs: attemptTimeoutMs,
      refusalBytes: answerKeptBytes,
    });
    return {
      statusCode: status,
      error: errorOfStatus(status),
      retryAfter,
      durationMs: took(),
      exchange: refusal === null ? null : { ...signatures, answer: readAnswer(status, refusal) },
    };
  } catch (error) {
    const problem = error instanceof SafeFetchError ? error.problem : "connection_failed";
    return {
      statusCode: null,
      error: errorOf[problem],
      retryAfter: null,
      durationMs: took(),
      exchange: { ...signatures, answer: null },
    };
  }
}
