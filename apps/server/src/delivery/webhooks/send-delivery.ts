import { answerKeptBytes, type DeliveryError } from "@assay/contract/webhooks";
import { type SafeFetch, SafeFetchError, type SafeFetchProblem } from "../../platform/lib/safe-fetch.ts";
import { errorOfStatus } from "./delivery.ts";
import type { SendableDelivery, Sender, Sent } from "./delivery-worker.ts";
import { readAnswer } from "./exchange.ts";
import { limitsFor } from "./lanes.ts";
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

/** Sends to the URLs of endpoints. */
export function urlSender(safeFetch: SafeFetch, maxInFlight: number): Sender {
  return {
    limits: limitsFor(maxInFlight),
    outlet: () => ({ kind: "url" }),
    serves: () => true,
    send: (delivery, secrets, now) => sendDelivery(safeFetch, delivery, secrets, now),
  };
}

/** One attempt, signed with the current secrets. Never throws: a failure is part of the result. */
async function sendDelivery(
  safeFetch: SafeFetch,
  delivery: SendableDelivery,
  secrets: readonly string[],
  now: Date,
): Promise<Sent> {
  const startedAt = performance.now();
  const { id, eventId, eventType, payload } = delivery;
  const signatures = sign(secrets, { eventId, payload }, now);
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const { status, retryAfter, refusal } = await safeFetch.post(delivery.url, {
      headers: headersOf({ id, eventId, eventType }, signatures, now),
      body: payload,
      timeoutMs: attemptTimeoutMs,
      refusalBytes: answerKeptBytes,
    });
    return {
      kind: "answered",
      result: { statusCode: status, error: errorOfStatus(status), retryAfter },
      durationMs: took(),
      exchange: refusal === null ? null : { ...signatures, answer: readAnswer(status, refusal) },
    };
  } catch (error) {
    const problem = error instanceof SafeFetchError ? error.problem : "connection_failed";
    return {
      kind: "answered",
      result: { statusCode: null, error: errorOf[problem], retryAfter: null },
      durationMs: took(),
      exchange: { ...signatures, answer: null },
    };
  }
}
