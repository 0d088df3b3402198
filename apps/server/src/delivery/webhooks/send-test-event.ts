import type { EventType } from "@assay/contract/events";
import type { EndpointId } from "@assay/contract/ids";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { later, minuteMs } from "../../platform/kernel/clock.ts";
import { type DeliveryRow, deliveriesOfEvent, writeDeliveries } from "./delivery.store.ts";
import { publishTarget } from "./endpoint.store.ts";
import { type EventRow, fewerTestEventsSince, writeEvents } from "./event.store.ts";
import type { SealedRow } from "./exchange.store.ts";
import { mailMissingKeys } from "./publish-event.ts";
import { sealTestEvent } from "./test-event.ts";

export async function sendTestEvent(
  core: Core,
  caller: OrganizationCaller,
  endpointId: EndpointId,
  type: EventType,
): Promise<{ event: EventRow; deliveries: DeliveryRow[]; sealed: SealedRow | null }> {
  const now = core.clock.now();
  const maxPerMinute = core.config.organizationTestEventsPerMinute;
  return core.db.transaction(async (tx) => {
    const [target, isWithinLimit] = await tx.ask(
      publishTarget(caller, endpointId),
      fewerTestEventsSince(caller, later(now, 1 - minuteMs), maxPerMinute),
    );
    if (target === null) throw new ApiError("NOT_FOUND");
    if (!target.enabled) {
      throw new ApiError("ENDPOINT_DISABLED", {
        message: "The endpoint is disabled.",
        hint: "Enable it with PATCH, then send the test event.",
      });
    }
    // In live a receiver would take a sample about a session for a real result.
    if (!target.sandbox && type !== "webhook.endpoint.test")
      throw new ApiError("SAMPLE_NOT_IN_LIVE", {
        message: "Samples of this event are sent in the sandbox only.",
        hint: "Leave `event_type` out to send webhook.endpoint.test.",
      });
    if (!isWithinLimit)
      throw new ApiError("CONFLICT", {
        message: "The organization has reached its limit of test events a minute in this environment.",
        hint: `An organization may send ${maxPerMinute} test events a minute in each environment. Wait a minute.`,
      });
    const { event, delivery } = sealTestEvent(target, type, now);
    writeEvents(tx, [event], now);
    writeDeliveries(tx, [delivery], now);
    await recordAct(tx, now, caller, {
      event: "webhook_endpoint.tested",
      targetId: target.id,
      details: { event_id: event.id },
    });
    await mailMissingKeys(core, tx, now, [target]);
    const { key } = target;
    const sealed =
      delivery.sealed === null || key === null
        ? null
        : { payload: delivery.sealed.payload, keyId: key.keyId };
    return { event, deliveries: await deliveriesOfEvent(tx, caller, event.id, now), sealed };
  });
}
