import type { DeliveryError } from "@assay/contract/webhooks";
import { type SafeFetch, SafeFetchError, type SafeFetchProblem } from "../lib/safe-fetch.ts";
import { errorOfStatus } from "./delivery.ts";
import type { SendableDelivery, Sender, Sent } from "./delivery-worker.ts";
import { limitsFor } from "./lanes.ts";
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

/** Sends to the URLs of endpoints. */
export function urlSender(safeFetch: SafeFetch, mostInFlight: number): Sender {
  return {
    limits: limitsFor(mostInFlight),
    outlet: () => ({ kind: "url" }),
    serves: () => true,
    send: (delivery, secret, now) => sendDelivery(safeFetch, delivery, secret, now),
  };
}

/** The headers of an attempt: signed now, with the endpoint's current secret. */
export function headersOf(delivery: SendableDelivery, secret: string, now: Date): Record<string, string> {
  return signedHeaders(
    secret,
    {
      id: delivery.id,
      eventId: delivery.event_id,
      eventType: delivery.event_type,
      payload: delivery.payload,
    },
    now,
  );
}

/** One attempt. Never throws; what went wrong is part of the result. */
async function sendDelivery(
  safeFetch: SafeFetch,
  delivery: SendableDelivery,
  secret: string,
  now: Date,
): Promise<Sent> {
  const startedAt = performance.now();
  const headers = headersOf(delivery, secret, now);
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const { status, retryAfter } = await safeFetch.post(delivery.url, {
      headers,
      body: delivery.payload,
      timeoutMs: attemptTimeoutMs,
    });
    const result = { statusCode: status, error: errorOfStatus(status), retryAfter };
    return { kind: "answered", result, durationMs: took() };
  } catch (error) {
    const problem = error instanceof SafeFetchError ? error.problem : "connection_failed";
    const result = { statusCode: null, error: errorOf[problem], retryAfter: null };
    return { kind: "answered", result, durationMs: took() };
  }
}
