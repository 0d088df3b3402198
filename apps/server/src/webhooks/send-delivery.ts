import type { DeliveryError } from "@assay/contract/webhooks";
import { type SafeFetch, SafeFetchError, type SafeFetchProblem } from "../lib/safe-fetch.ts";
import type { LeasedDelivery } from "./delivery.store.ts";
import { type AttemptResult, errorOfStatus } from "./delivery.ts";
import { signedHeaders } from "./signing.ts";

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

/** One attempt: signed now with the endpoint's current secret. Never throws; what went wrong is part of the result. */
export async function sendDelivery(
  safeFetch: SafeFetch,
  delivery: SendableDelivery,
  secret: string,
  now: Date,
): Promise<AttemptResult & { durationMs: number }> {
  const startedAt = performance.now();
  const headers = signedHeaders(
    secret,
    {
      id: delivery.id,
      eventId: delivery.event_id,
      eventType: delivery.event_type,
      payload: delivery.payload,
    },
    now,
  );
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const { status, retryAfter } = await safeFetch.post(delivery.url, {
      headers,
      body: delivery.payload,
      timeoutMs: attemptTimeoutMs,
    });
    return { statusCode: status, error: errorOfStatus(status), retryAfter, durationMs: took() };
  } catch (error) {
    const problem = error instanceof SafeFetchError ? error.problem : "connection_failed";
    return { statusCode: null, error: errorOf[problem], retryAfter: null, durationMs: took() };
  }
}
