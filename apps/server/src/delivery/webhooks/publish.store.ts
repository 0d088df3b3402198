import { type AuditEntry, insertAudits } from "../../platform/audit/audit.store.ts";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Notification } from "../../platform/db/hints.ts";
import { joinSql, Sql, sql } from "../../platform/db/sql.ts";
import { announceDeliveries, deliveryParts, type NewDelivery } from "./delivery.store.ts";
import { type EventRow, insertEvents } from "./event.store.ts";

/** What is written and notified together with events. */
export type Alongside = {
  /** Statements that change rows of other tables. */
  writes: readonly Sql[];
  audits: readonly AuditEntry[];
  notifications: readonly Notification[];
};

export type Published = Alongside & {
  events: readonly EventRow[];
  deliveries: readonly NewDelivery[];
  /** Nothing is written unless this holds. Null: always written. */
  condition: Sql | null;
};

// Cached, so that the text of the whole statement can be cached too.
const partNames: Sql[] = [];
function partName(at: number): Sql {
  const name = partNames[at] ?? new Sql([`write_${at}`], []);
  partNames[at] = name;
  return name;
}

/**
 * Writes events, deliveries, their rows of the queue and audit entries in one statement, so also atomically
 * without a transaction. Wakes the workers after the commit. False if the condition did not hold.
 */
export async function writePublished(db: Queryable, published: Published, now: Date): Promise<boolean> {
  const row = await db.one<{ isWritten: boolean }>(publishedStatement(published, now));
  if (row.isWritten) notifyPublished(db, published);
  return row.isWritten;
}

/** Like `writePublished`, without a condition. Sent with the next statement or with the commit. */
export function writePublishedLater(tx: Tx, published: Omit<Published, "condition">, now: Date): void {
  tx.write(publishedStatement({ ...published, condition: null }, now));
  notifyPublished(tx, published);
}

function notifyPublished(
  db: Queryable,
  { deliveries, notifications }: Pick<Published, "deliveries" | "notifications">,
): void {
  for (const { channel, payload } of notifications) db.notify(channel, payload);
  announceDeliveries(
    db,
    deliveries.filter(({ sealed }) => sealed !== null).map(({ endpointId }) => endpointId),
  );
}

function publishedStatement({ events, deliveries, writes, audits, condition }: Published, now: Date): Sql {
  const isWritten = condition === null ? sql`true` : sql`(select holds from condition)`;
  const parts: Sql[] = [
    ...(condition === null ? [] : [sql`condition as materialized (select ${condition} as holds)`]),
    sql`new_events as (${insertEvents(events, isWritten, now)})`,
    ...deliveryParts(deliveries, isWritten, now),
    ...writes.map((write, at) => sql`${partName(at)} as (${write})`),
    ...(audits.length === 0 ? [] : [sql`audited as (${insertAudits(now, audits)} where ${isWritten})`]),
  ];
  return sql`
    with ${joinSql(parts, sql`, `)}
    select ${isWritten} as is_written`;
}
