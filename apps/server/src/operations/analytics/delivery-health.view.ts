import type { WebhooksOverview } from "@assay/contract/analytics";
import type { Static } from "typebox";
import type { DeliveryHealth } from "../../delivery/webhooks/delivery-health.store.ts";

type Wire = Omit<Static<typeof WebhooksOverview>, "from" | "to" | "sandbox">;

export function viewDeliveryHealth(health: DeliveryHealth): Wire {
  const sum = (of: "delivered" | "waiting" | "failed") =>
    health.endpoints.reduce((total, endpoint) => total + endpoint[of], 0);
  return {
    counted: health.counted,
    is_capped: health.isCapped,
    since: health.since?.toISOString() ?? null,
    delivered: sum("delivered"),
    waiting: sum("waiting"),
    failed: sum("failed"),
    delivered_at_first_try: health.firstTries,
    // A clock that was set back must not produce a negative time.
    median_seconds_to_deliver:
      health.medianSeconds === null ? null : Math.max(0, Math.round(health.medianSeconds * 1000) / 1000),
    endpoints: health.endpoints.map(({ id, ...counts }) => ({ webhook_endpoint_id: id, ...counts })),
  };
}
