import type { EndpointId } from "@assay/contract/ids";
import { recordAct } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { OrganizationCaller } from "../kernel/caller.ts";
import { later, minuteMs } from "../kernel/clock.ts";
import { lockOrganization } from "../organizations/organization.store.ts";
import { type DeliveryRow, deliveriesOfEvent } from "./delivery.store.ts";
import { findEndpoint } from "./endpoint.store.ts";
import { countEventsSince, type EventRow, findEvent } from "./event.store.ts";
import { publishTestEvent } from "./publish-event.ts";

export async function sendTestEvent(
  core: Core,
  caller: OrganizationCaller,
  endpointId: EndpointId,
): Promise<{ event: EventRow; deliveries: DeliveryRow[] }> {
  const { organizationId } = caller;
  const now = core.clock.now();
  const mostPerMinute = core.config.organizationTestEventsPerMinute;
  return core.db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    const endpoint = await findEndpoint(tx, organizationId, endpointId);
    if (endpoint === null) throw new ApiError("NOT_FOUND");
    if (!endpoint.enabled) {
      throw new ApiError("CONFLICT", {
        message: "The endpoint is disabled.",
        hint: "Enable it with PATCH, then send the test event.",
      });
    }
    const since = later(now, 1 - minuteMs);
    if ((await countEventsSince(tx, organizationId, "webhook.endpoint.test", since)) >= mostPerMinute)
      throw new ApiError("CONFLICT", {
        message: "The organization has sent as many test events in the last minute as it may send.",
        hint: `An organization may send ${mostPerMinute} test events a minute. Wait a minute, or ask the operator for more.`,
      });
    const eventId = await publishTestEvent(core, tx, now, {
      organizationId,
      endpointId: endpoint.id,
      sandbox: caller.environment === "sandbox",
    });
    await recordAct(tx, now, caller, {
      event: "webhook_endpoint.tested",
      targetId: endpoint.id,
      details: { event_id: eventId },
    });
    const event = await findEvent(tx, organizationId, eventId);
    if (event === null) throw new Error("an event that was just written is not there");
    return { event, deliveries: await deliveriesOfEvent(tx, organizationId, eventId) };
  });
}
