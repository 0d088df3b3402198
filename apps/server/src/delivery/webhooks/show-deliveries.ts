import type { Metrics } from "../../platform/lib/metrics.ts";
import type { DeliveryFigures, DeliveryWorker } from "./delivery-worker.ts";

/** What the workers of a process count together. */
export function createDeliveryFigures(
  metrics: Metrics,
  showOldestDue: DeliveryFigures["showOldestDue"],
): DeliveryFigures {
  const countAttempt = metrics.counter(
    "assay_webhook_attempts_total",
    "Attempts to deliver a webhook, by result.",
  );
  return { countAttempt, showOldestDue };
}

/** Shows what the worker that sends to URLs is doing. */
export function showDeliveries(metrics: Metrics, worker: DeliveryWorker): void {
  metrics.gaugeOf(
    "assay_webhook_in_flight",
    "Webhook attempts in flight in this process.",
    () => worker.inFlight,
  );
  metrics.gaugeOf(
    "assay_webhook_slow_in_flight",
    "Webhook attempts in flight for more than a second.",
    () => worker.slow,
  );
  metrics.gaugeOf(
    "assay_webhook_endpoints_waiting",
    "Endpoints with deliveries that are due and wait for a slot.",
    () => worker.endpointsWaiting,
  );
}
