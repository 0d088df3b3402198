import type { EndpointId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

/** Counts what is due in the queues of these endpoints, up to `most`. Reads only the heads of the queues. */
export async function countDue(
  db: Queryable,
  endpointIds: readonly EndpointId[],
  now: Date,
  most: number,
): Promise<number> {
  if (endpointIds.length === 0) return 0;
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count from (
      select from webhook_delivery_queue
      where endpoint_id = any(${endpointIds}::text[]) and due_at <= ${now} and (lease_until is null or lease_until <= ${now})
      limit ${most}) due`);
  return count;
}

export async function countFailingEndpoints(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from webhook_endpoints where enabled and failing_since is not null`,
  );
  return count;
}
