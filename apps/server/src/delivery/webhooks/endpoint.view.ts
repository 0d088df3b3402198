import { eventTypes } from "@assay/contract/events";
import type { WebhookEndpoint } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { environmentOf } from "../../platform/kernel/caller.ts";
import type { EndpointRow } from "./endpoint.store.ts";

export function viewEndpoint(row: EndpointRow): Static<typeof WebhookEndpoint> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    environment: environmentOf(row),
    name: row.name,
    kind: row.kind,
    url: row.url,
    enabled: row.enabled,
    subscribed_event_types: row.subscribed_event_types ?? [...eventTypes],
    undelivered_payload_retention_hours: row.undelivered_payload_retention_hours,
    has_active_key: row.has_active_key,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    disabled_at: row.disabled_at?.toISOString() ?? null,
    disabled_reason: row.disabled_reason,
    last_seen_at: row.listener_seen_at?.toISOString() ?? null,
  };
}
