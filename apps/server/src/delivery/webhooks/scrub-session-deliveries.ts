import type { SessionId } from "@assay/contract/ids";
import type { Tx } from "../../platform/db/db.ts";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { scrubUndelivered } from "./delivery.store.ts";
import { eventsOfSession, retractEvents } from "./event.store.ts";

/**
 * Scrubs every payload of the session that has not reached the partner. If none had, retracts the events; the
 * caller then cancels the session in this transaction. So exactly one final event is valid.
 */
export async function scrubSessionDeliveries(
  tx: Tx,
  session: Tenant & { id: SessionId },
  now: Date,
): Promise<"nothing_delivered" | "delivered"> {
  const events = await eventsOfSession(tx, session.organizationId, session.id);
  const { succeeded } = await scrubUndelivered(tx, session, events, now);
  if (succeeded > 0) return "delivered";
  await retractEvents(tx, session.organizationId, session.id, now);
  return "nothing_delivered";
}
