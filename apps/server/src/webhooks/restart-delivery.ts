import type { Tx } from "../db/db.ts";
import { ApiError } from "../kernel/api-error.ts";
import {
  announceDeliveries,
  type DeliveryRow,
  deliveriesOfEvent,
  findDelivery,
  restartDeliveries,
} from "./delivery.store.ts";

/** Sends a delivery again from the first try on. Two calls at once, or a worker that is just claiming it, send it once. */
export async function retryDelivery(
  tx: Tx,
  organizationId: string,
  deliveryId: string,
  now: Date,
): Promise<DeliveryRow> {
  const [restarted] = await restartDeliveries(tx, organizationId, [deliveryId], now);
  if (restarted === undefined) {
    const found = await findDelivery(tx, organizationId, deliveryId);
    if (found === null) throw new ApiError("NOT_FOUND");
    throw whyNot([found]);
  }
  await announceDeliveries(tx, [restarted.endpoint_id]);
  return restarted;
}

/** Sends an event again wherever its payload is still there. */
export async function replayDeliveries(
  tx: Tx,
  organizationId: string,
  eventId: string,
  now: Date,
): Promise<DeliveryRow[]> {
  const deliveries = await deliveriesOfEvent(tx, organizationId, eventId);
  const restarted = await restartDeliveries(
    tx,
    organizationId,
    deliveries.map((delivery) => delivery.id),
    now,
  );
  if (restarted.length === 0) throw whyNot(deliveries);
  await announceDeliveries(
    tx,
    restarted.map((delivery) => delivery.endpoint_id),
  );
  return restarted;
}

function whyNot(deliveries: readonly DeliveryRow[]): ApiError {
  return deliveries.some((delivery) => delivery.status === "delivering")
    ? new ApiError("CONFLICT", {
        message: "The delivery is being sent right now.",
        hint: "Wait for what comes of it, then decide.",
      })
    : new ApiError("WEBHOOK_PAYLOAD_EXPIRED");
}
