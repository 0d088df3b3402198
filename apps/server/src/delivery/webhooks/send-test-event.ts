import type { EventType } from "@assay/contract/events";
import type { EndpointId } from "@assay/contract/ids";
import { actEntry } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Queryable } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { later, minuteMs } from "../../platform/kernel/clock.ts";
import { type DeliveryRow, justWritten } from "./delivery.store.ts";
import { findPublishTarget } from "./endpoint.store.ts";
import { type EventRow, fewerTestEventsSince } from "./event.store.ts";
import type { SealedRow } from "./exchange.store.ts";
import { writePublished } from "./publish.store.ts";
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
  const target = await findPublishTarget(core.db, caller, endpointId);
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
  const { event, delivery } = sealTestEvent(target, type, now);
  const act = {
    event: "webhook_endpoint.tested",
    targetId: target.id,
    details: { event_id: event.id },
  } as const;
  const write = async (db: Queryable) => {
    const since = later(now, 1 - minuteMs);
    const isWritten = await writePublished(
      db,
      {
        events: [event],
        deliveries: [delivery],
        audits: [actEntry(caller, act)],
        writes: [],
        notifications: [],
        condition: fewerTestEventsSince(caller, since, maxPerMinute),
      },
      now,
    );
    if (!isWritten)
      throw new ApiError("CONFLICT", {
        message: "The organization has reached its limit of test events a minute in this environment.",
        hint: `An organization may send ${maxPerMinute} test events a minute in each environment. Wait a minute, or ask the operator for more.`,
      });
  };
  // A single statement is atomic. Only the mail about a missing key needs a transaction.
  if (target.key !== null) await write(core.db);
  else
    await core.db.transaction(async (tx) => {
      await write(tx);
      await mailMissingKeys(core, tx, now, [target]);
    });
  const { key } = target;
  const sealed =
    delivery.sealed === null || key === null ? null : { payload: delivery.sealed.payload, keyId: key.keyId };
  return { event, deliveries: [justWritten(delivery, now)], sealed };
}
