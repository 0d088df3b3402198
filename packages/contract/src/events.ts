/** Every type of event that an endpoint can subscribe to. New ones may be added at any time. */
export const eventTypes = [
  "verification.session.succeeded",
  "verification.session.failed",
  "verification.session.expired",
  "verification.session.cancelled",
  "webhook.endpoint.test",
] as const;
export type EventType = (typeof eventTypes)[number];
