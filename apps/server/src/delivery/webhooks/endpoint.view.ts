import { eventTypes } from "@assay/contract/events";
import type { WebhookEndpoint } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { environmentOf } from "../../platform/kernel/caller.ts";
import type { EndpointRow } from "./endpoint.store.ts";

export function viewEndpoint(row: EndpointRow): Static<typeof WebhookEndpoint> {
  return {
    id: row.id,
    organization_id: row.organizationId,
    environment: environmentOf(row),
    name: row.name,
    kind: row.kind,
    url: row.url,
    enabled: row.enabled,
    subscribed_event_types: row.subscribedEventTypes ?? [...eventTypes],
    undelivered_payload_retention_hours: row.undeliveredPayloadRetentionHours,
    has_active_key: row.hasActiveKey,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    disabled_at: row.disabledAt?.toISOString() ?? null,
    disabled_reason: row.disabledReason,
    last_seen_at: row.listenerSeenAt?.toISOString() ?? null,
  };
}
