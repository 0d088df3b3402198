import type { OrganizationId, SessionId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { environmentOf } from "../../platform/kernel/caller.ts";
import { hasSealedDelivery } from "./delivery.store.ts";
import { findResultEvent } from "./event.store.ts";

/** Whether a success was queued for an endpoint with a key. Without a key it can never be sent. */
export async function isResultQueued(
  db: Queryable,
  session: { id: SessionId; organizationId: OrganizationId; sandbox: boolean },
): Promise<boolean> {
  const tenant = { organizationId: session.organizationId, environment: environmentOf(session) };
  const eventId = await findResultEvent(db, tenant, session.id);
  return eventId !== null && (await hasSealedDelivery(db, tenant, eventId));
}
