import type { DeliveryId, EndpointId, EventId } from "@assay/contract/ids";
import { maxRetriedAtOnce, maxRetryPeriodMs } from "@assay/contract/webhooks";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller, Tenant } from "../../platform/kernel/caller.ts";
import {
  announceDeliveries,
  type DeliveryRow,
  deliveriesOfEvent,
  findDelivery,
  restartDeliveries,
  takeRetriable,
} from "./delivery.store.ts";
import { findEndpoint } from "./endpoint.store.ts";
import { type EventRow, findEvent } from "./event.store.ts";

type Needs = Pick<Core, "db" | "clock">;

/** Restarts a delivery's schedule. Concurrent calls, or a call during a worker's claim, send it once. */
export async function retryDelivery(
  { db, clock }: Needs,
  caller: OrganizationCaller,
  deliveryId: DeliveryId,
): Promise<DeliveryRow> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const [restarted] = await restartDeliveries(tx, caller, [deliveryId], now);
    if (restarted === undefined) {
      const found = await findDelivery(tx, caller, deliveryId, now);
      if (found === null) throw new ApiError("NOT_FOUND");
      throw whyNot([found]);
    }
    announceDeliveries(tx, [restarted.endpointId]);
    await recordAct(tx, now, caller, { event: "webhook_delivery.retried", targetId: deliveryId });
    return restarted;
  });
}

/** Restarts every delivery of an event whose payload still exists. */
export async function replayEvent(
  { db, clock }: Needs,
  caller: OrganizationCaller,
  eventId: EventId,
): Promise<{ event: EventRow; deliveries: DeliveryRow[] }> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const event = await findEvent(tx, caller, eventId);
    if (event === null) throw new ApiError("NOT_FOUND");
    const deliveries = await replayDeliveries(tx, caller, event.id, now);
    await recordAct(tx, now, caller, {
      event: "webhook_event.replayed",
      targetId: event.id,
      details: { deliveries: deliveries.length },
    });
    return { event, deliveries };
  });
}

/** Restarts a batch of failed deliveries. They no longer count as failed, so the next call continues. */
export async function retryFailed(
  { db, clock }: Needs,
  caller: OrganizationCaller,
  endpointId: EndpointId,
  period: { createdFrom: Date; createdTo: Date },
): Promise<{ retried: number; hasMore: boolean }> {
  const now = clock.now();
  if (period.createdTo.getTime() - period.createdFrom.getTime() > maxRetryPeriodMs)
    throw new ApiError("PERIOD_INVALID", {
      message: "`created_from` and `created_to` are too far apart.",
      hint: "Retry several shorter periods instead.",
    });
  return db.transaction(async (tx) => {
    if ((await findEndpoint(tx, caller, endpointId)) === null) throw new ApiError("NOT_FOUND");
    const found = await takeRetriable(tx, caller, endpointId, period, maxRetriedAtOnce + 1, now);
    const restarted = await restartDeliveries(tx, caller, found.slice(0, maxRetriedAtOnce), now);
    if (restarted.length > 0) {
      announceDeliveries(tx, [endpointId]);
      await recordAct(tx, now, caller, {
        event: "webhook_endpoint.retried",
        targetId: endpointId,
        details: {
          deliveries: restarted.length,
          created_from: period.createdFrom.toISOString(),
          created_to: period.createdTo.toISOString(),
        },
      });
    }
    return { retried: restarted.length, hasMore: found.length > maxRetriedAtOnce };
  });
}

async function replayDeliveries(tx: Tx, tenant: Tenant, eventId: EventId, now: Date): Promise<DeliveryRow[]> {
  const deliveries = await deliveriesOfEvent(tx, tenant, eventId, now);
  const restarted = await restartDeliveries(
    tx,
    tenant,
    deliveries.map((delivery) => delivery.id),
    now,
  );
  if (restarted.length === 0) throw whyNot(deliveries);
  announceDeliveries(
    tx,
    restarted.map((delivery) => delivery.endpointId),
  );
  return restarted;
}

function whyNot(deliveries: readonly DeliveryRow[]): ApiError {
  return deliveries.some((delivery) => delivery.status === "delivering")
    ? new ApiError("CONFLICT", {
        message: "The delivery is being sent right now.",
        hint: "Wait for the result of this attempt before you send it again.",
      })
    : new ApiError("WEBHOOK_PAYLOAD_EXPIRED");
}
