import { sampleEvent } from "@assay/contract/event-samples";
import type { EventPayload, EventType } from "@assay/contract/events";
import type { EventId } from "@assay/contract/ids";
import { newId } from "../../platform/kernel/ids.ts";
import type { NewDelivery } from "./delivery.store.ts";
import type { PublishTarget } from "./endpoint.store.ts";
import type { EventRow } from "./event.store.ts";
import { sealPayload } from "./seal-payload.ts";

type TestEvent = { event: EventRow; delivery: NewDelivery };

/** Prepares an event without a session for one endpoint. Subscriptions do not apply. */
export function sealTestEvent(target: PublishTarget, type: EventType, now: Date): TestEvent {
  const id = newId("evt", now);
  const { organizationId, sandbox, key } = target;
  const plaintext = JSON.stringify(plaintextOf(target, type, id, now));
  return {
    event: {
      id,
      organizationId: organizationId,
      type,
      sessionId: null,
      sandbox,
      contractVersion: null,
      clientReferenceId: null,
      createdAt: now,
      retractedAt: null,
    },
    delivery: {
      id: newId("whd", now),
      organizationId,
      sandbox,
      eventId: id,
      eventType: type,
      endpointId: target.id,
      sealed: key === null ? null : { encryptionKeyId: key.id, payload: sealPayload(key, plaintext) },
    },
  };
}

function plaintextOf(
  target: PublishTarget,
  type: EventType,
  id: EventId,
  now: Date,
): EventPayload<EventType> {
  const sample = sampleEvent(type);
  const payload = {
    ...sample,
    id,
    created_at: now.toISOString(),
    sandbox: target.sandbox,
    metadata: { ...sample.metadata, event_id: id },
  };
  return type === "webhook.endpoint.test"
    ? ({ ...payload, data: { webhook_endpoint_id: target.id } } as EventPayload<"webhook.endpoint.test">)
    : payload;
}
