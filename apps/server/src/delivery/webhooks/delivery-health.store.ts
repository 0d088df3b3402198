import type { EndpointId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { byIdPrefix } from "../../platform/db/page.ts";
import { sql } from "../../platform/db/sql.ts";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { idFloor } from "../../platform/kernel/ids.ts";

export type DeliveryHealth = {
  counted: number;
  isCapped: boolean;
  since: Date | null;
  firstTries: number;
  medianSeconds: number | null;
  endpoints: { id: EndpointId; delivered: number; waiting: number; failed: number }[];
};

/**
 * Results of the latest `most` deliveries of a period. Reads the ends of two index ranges, so the cost does
 * not grow with the number of deliveries. One statement, so that all figures are of the same moment.
 */
export async function readDeliveryHealth(
  db: Queryable,
  tenant: Tenant,
  period: { from: Date; before: Date },
  most: number,
): Promise<DeliveryHealth> {
  const range = (failed: boolean) => sql`
    (select id, endpoint_id, status, attempt_count, created_at, last_attempt_at from webhook_deliveries
    where ${ownedBy(tenant)} and failed = ${failed}
      and left(id, 14) collate by_organization >= ${idFloor("whd", period.from)}
      and left(id, 14) collate by_organization < ${idFloor("whd", period.before)}
    ${byIdPrefix(sql`left(id, 14) collate by_organization`, most + 1)})`;
  const rows = await db.rows<{
    endpointId: EndpointId;
    delivered: number;
    waiting: number;
    failed: number;
    firstTries: number;
    seen: number;
    since: Date;
    medianSeconds: number | null;
  }>(sql`
    with found as (
      select * from (${range(true)} union all ${range(false)}) as ends order by id desc limit ${most + 1}),
    latest as (select * from found order by id desc limit ${most}),
    median as (
      select percentile_cont(0.5) within group (order by extract(epoch from last_attempt_at - created_at)) as seconds
      from latest where status = 'succeeded')
    select endpoint_id, count(*) filter (where status = 'succeeded') as delivered,
      count(*) filter (where status = 'pending') as waiting, count(*) filter (where status = 'failed') as failed,
      count(*) filter (where status = 'succeeded' and attempt_count = 1) as first_tries,
      (select count(*) from found) as seen, (select min(created_at) from latest) as since,
      (select seconds from median) as median_seconds
    from latest group by endpoint_id order by count(*) desc, endpoint_id`);
  const [first] = rows;
  return {
    counted: Math.min(first?.seen ?? 0, most),
    isCapped: (first?.seen ?? 0) > most,
    since: first?.since ?? null,
    firstTries: rows.reduce((sum, row) => sum + row.firstTries, 0),
    medianSeconds: first?.medianSeconds ?? null,
    endpoints: rows.map(({ endpointId: id, delivered, waiting, failed }) => ({
      id,
      delivered,
      waiting,
      failed,
    })),
  };
}
