import type { EventType } from "@assay/contract/events";

/** What happened, as a person would say it. */
export const eventLabels: Record<EventType, string> = {
  "verification.session.succeeded": "Verification succeeded",
  "verification.session.failed": "Verification failed",
  "verification.session.expired": "Session expired",
  "verification.session.cancelled": "Session cancelled",
  "webhook.endpoint.test": "Test event",
};
