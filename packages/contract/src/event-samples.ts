import { type EventPayload, type EventType, eventPayloads } from "./events.ts";
import { exampleOf } from "./example-of.ts";

const ofNoSession = { verification_session_id: null, contract_version: null, client_reference_id: null };

/**
 * A decrypted event of this type, made from the examples of its schema.
 * The reference, the dashboard and test deliveries all use it.
 */
export function sampleEvent<T extends EventType>(type: T): EventPayload<T> {
  const { title } = eventPayloads[type] as { title?: string };
  const sample = exampleOf(eventPayloads[type], title ?? type) as EventPayload<T>;
  // An event, its metadata and its id agree; and a test belongs to no session.
  const metadata = {
    ...sample.metadata,
    event_id: sample.id,
    ...(type === "webhook.endpoint.test" ? ofNoSession : {}),
  };
  return { ...sample, metadata };
}
