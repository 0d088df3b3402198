import type { DeliveryId, EndpointId, OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { sql } from "../../platform/db/sql.ts";

/**
 * NOTIFY channel: the stream of a listener was replaced, or the listener removed. Payload: endpoint id, or
 * empty for "check every stream".
 */
export const listenerChannel = "assay_listeners";
/** NOTIFY channel: an answer was recorded. Payload: delivery id, lease number and outcome. */
export const answerChannel = "assay_listener_answers";

/** A stream that gets the deliveries of a listener. */
type ListenerStream = { endpointId: EndpointId; streamId: string };

/** Makes this the current stream of the listener. False if the listener no longer exists. */
export async function takeOverListener(
  tx: Tx,
  organizationId: OrganizationId,
  { endpointId, streamId }: ListenerStream,
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update webhook_endpoints set listener_stream_id = ${streamId}, listener_seen_at = ${now}
    where organization_id = ${organizationId} and id = ${endpointId} and kind = 'listener'`);
  if (changed === 0) return false;
  notifyListenerChanged(tx, endpointId);
  return true;
}

export function notifyListenerChanged(tx: Tx, endpointId: EndpointId): void {
  tx.notify(listenerChannel, endpointId);
}

/** Records that these streams are open. Returns the ids of those that are still current. */
export async function touchListeners(
  db: Queryable,
  streams: readonly ListenerStream[],
  now: Date,
): Promise<Set<string>> {
  const rows = await db.rows<{ streamId: string }>(sql`
    update webhook_endpoints e set listener_seen_at = ${now}
    from unnest(${streams.map((stream) => stream.endpointId)}::text[], ${streams.map((stream) => stream.streamId)}::uuid[])
      as open (id, stream_id)
    where e.id = open.id and e.listener_stream_id = open.stream_id
    returning open.stream_id`);
  return new Set(rows.map((row) => row.streamId));
}

/** The listeners that still exist. */
export async function existingListeners(db: Queryable, ids: readonly EndpointId[]): Promise<Set<EndpointId>> {
  const rows = await db.rows<{ id: EndpointId }>(
    sql`select id from webhook_endpoints where id = any(${ids}::text[]) and kind = 'listener'`,
  );
  return new Set(rows.map((row) => row.id));
}

/** Notifies the process that holds the stream that the delivery need not wait any longer. */
export function notifyAnswered(
  tx: Tx,
  answered: { deliveryId: DeliveryId; leaseNumber: number; outcome: string },
): void {
  tx.notify(answerChannel, `${answered.deliveryId} ${answered.leaseNumber} ${answered.outcome}`);
}

type AbsentListener = {
  id: EndpointId;
  organizationId: OrganizationId;
  sandbox: boolean;
  name: string | null;
};

/** Listeners whose stream was last open before `before`. */
export function takeAbsentListeners(db: Queryable, before: Date, among: Among): Promise<AbsentListener[]> {
  return db.rows<AbsentListener>(sql`
    select id, organization_id, sandbox, name from webhook_endpoints
    where kind = 'listener' and listener_seen_at < ${before} and ${among.where(sql`id`, "text")}
    order by id limit ${among.limit} ${among.lock}`);
}

export async function deleteListeners(tx: Tx, ids: readonly EndpointId[]): Promise<void> {
  await tx.run(sql`delete from webhook_endpoints where id = any(${ids}::text[]) and kind = 'listener'`);
}
