import type { OrganizationId, SessionId } from "@assay/contract/ids";
import type { FailureCode } from "@assay/contract/sessions";
import type { Queryable, Tx } from "../db/db.ts";
import { ownedBy } from "../db/owned-by.ts";
import { sql } from "../db/sql.ts";
import type { Tenant } from "../kernel/caller.ts";
import { dayMs, later } from "../kernel/clock.ts";
import { idFloor } from "../kernel/ids.ts";
import {
  bucketOfSeconds,
  type Day,
  dayOf,
  type FigureRow,
  type SessionStage,
  startOfDay,
} from "./day-figures.ts";
import { furthestStage, idBy } from "./session.store.ts";
import { lastExpiredCreation } from "./session.ts";

export type OutcomeOfDay =
  | { status: "succeeded"; completedAt: Date }
  | { status: "failed"; failureCode: FailureCode }
  | { status: "cancelled" };
export type CountedOutcome = {
  sessionId: SessionId;
  organizationId: OrganizationId;
  sandbox: boolean;
  createdAt: Date;
} & OutcomeOfDay;

type StageCounts = Partial<Record<SessionStage, number>>;

const shards = 16;
// Batches of one process always go to the same shard, so that they add one row a day and not one for each batch.
const batchShard = Math.floor(Math.random() * shards);

/**
 * Counts an outcome on the day its session was created, in the transaction of the move. `by` is -1 when an outcome is
 * taken back. Takes the first row of the day that nobody else is writing, so that sessions which end at the same time do
 * not wait for each other, and a quiet organization still has one row a day. It is the last thing a transaction locks.
 */
export function countOutcome(tx: Tx, outcome: CountedOutcome, by: 1 | -1 = 1): void {
  const { sessionId, organizationId, sandbox, status } = outcome;
  const day = dayOf(outcome.createdAt);
  const code = status === "failed" ? outcome.failureCode : null;
  const bucket =
    status === "succeeded"
      ? String(bucketOfSeconds((outcome.completedAt.getTime() - outcome.createdAt.getTime()) / 1000))
      : null;
  const column = { succeeded: sql`succeeded`, failed: sql`failed`, cancelled: sql`cancelled` }[status];
  const add = (table: "d" | "session_days") => {
    const [codes, buckets, own] =
      table === "d"
        ? [sql`d.failure_codes`, sql`d.seconds_buckets`, sql`d.${column}`]
        : [sql`session_days.failure_codes`, sql`session_days.seconds_buckets`, sql`session_days.${column}`];
    const [stages, stage] =
      table === "d"
        ? [sql`d.stages`, sql`reached.stage`]
        : [sql`session_days.stages`, sql`(select stage from reached)`];
    return sql`
      ${column} = ${own} + ${by},
      failure_codes = case when ${code}::text is null then ${codes} else
        ${codes} || jsonb_build_object(${code}::text, coalesce((${codes} ->> ${code}::text)::bigint, 0) + ${by}) end,
      seconds_buckets = case when ${bucket}::text is null then ${buckets} else
        ${buckets} || jsonb_build_object(${bucket}::text, coalesce((${buckets} ->> ${bucket}::text)::bigint, 0) + ${by}) end,
      stages = ${stages} || jsonb_build_object(${stage}, coalesce((${stages} ->> ${stage})::bigint, 0) + ${by})`;
  };
  tx.write(sql`
    with reached as (
      select ${status === "succeeded" ? sql`'succeeded'::text` : furthestStage} as stage from sessions where id = ${sessionId}),
    free as (
      select shard from session_days
      where organization_id = ${organizationId} and day = ${day}::date and sandbox = ${sandbox}
      order by shard limit 1 for update skip locked),
    added as (
      update session_days d set ${add("d")} from free, reached
      where d.organization_id = ${organizationId} and d.day = ${day}::date and d.sandbox = ${sandbox}
        and d.shard = free.shard
      returning d.shard)
    insert into session_days (organization_id, day, sandbox, shard, ${column}, failure_codes, seconds_buckets, stages)
    select ${organizationId}::uuid, ${day}::date, ${sandbox}::boolean, ${Math.floor(Math.random() * shards)}::smallint, ${by}::bigint,
      case when ${code}::text is null then '{}' else jsonb_build_object(${code}::text, ${by}::bigint) end,
      case when ${bucket}::text is null then '{}' else jsonb_build_object(${bucket}::text, ${by}::bigint) end,
      jsonb_build_object(stage, ${by}::bigint)
    from reached where not exists (select from added)
    on conflict (organization_id, day, sandbox, shard) do update set ${add("session_days")}`);
}

/** Counts many expired sessions with one statement. Rows are written in order of their key: two batches cannot lock each other out. */
export async function countExpired(
  tx: Tx,
  sessions: readonly {
    organizationId: OrganizationId;
    sandbox: boolean;
    createdAt: Date;
    stage: SessionStage;
  }[],
): Promise<void> {
  const groups = new Map<
    string,
    { organizationId: OrganizationId; day: Day; sandbox: boolean; count: number; stages: StageCounts }
  >();
  for (const { organizationId, sandbox, createdAt, stage } of sessions) {
    const day = dayOf(createdAt);
    const key = `${organizationId} ${day} ${sandbox}`;
    const group = groups.get(key) ?? { organizationId, day, sandbox, count: 0, stages: {} };
    group.count += 1;
    group.stages[stage] = (group.stages[stage] ?? 0) + 1;
    groups.set(key, group);
  }
  const ordered = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  await tx.run(sql`
    insert into session_days (organization_id, day, sandbox, shard, expired, stages)
    select organization_id, day, sandbox, ${batchShard}::smallint, count, stages from unnest(
      ${ordered.map((group) => group.organizationId)}::uuid[],
      ${ordered.map((group) => group.day)}::date[],
      ${ordered.map((group) => group.sandbox)}::boolean[],
      ${ordered.map((group) => group.count)}::bigint[],
      ${ordered.map((group) => JSON.stringify(group.stages))}::jsonb[]) as counted (organization_id, day, sandbox, count, stages)
    on conflict (organization_id, day, sandbox, shard)
      do update set expired = session_days.expired + excluded.expired, stages = (
        select jsonb_object_agg(stage, count) from (
          select stage, sum(count::bigint) as count from (
            select * from jsonb_each_text(session_days.stages) union all select * from jsonb_each_text(excluded.stages)
          ) as both_of_them (stage, count) group by stage) as added)`);
}

/**
 * Everything the overview needs, in one statement: it sees one moment of the database, so a session that ends meanwhile
 * is counted once, as open or by its outcome.
 */
export async function readFigures(
  db: Queryable,
  tenant: Tenant,
  range: { from: Day; to: Day },
  now: Date,
): Promise<FigureRow[]> {
  const firstLiving = idFloor("vs", later(lastExpiredCreation(now), 1));
  const rows = await db.rows<{
    day: Day;
    created: number;
    in_progress: number;
    succeeded: number;
    failed: number;
    expired: number;
    cancelled: number;
    failure_codes: FigureRow["failureCodes"];
    seconds_buckets: FigureRow["secondsBuckets"];
    stages: FigureRow["stages"];
  }>(sql`
    select to_char(day, 'YYYY-MM-DD') as day, 0::bigint as created, 0::bigint as in_progress, succeeded, failed, expired,
      cancelled, failure_codes, seconds_buckets, stages
    from session_days
    where ${ownedBy(tenant)}
      and day between ${range.from}::date and ${range.to}::date
    union all
    select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
      count(*) filter (where status = 'created' and id >= ${firstLiving}),
      count(*) filter (where status = 'in_progress' and id >= ${firstLiving}),
      0, 0, count(*) filter (where id < ${firstLiving}), 0, '{}', '{}', '{}'
    from sessions
    where ${ownedBy(tenant)}
      and status in ('created', 'in_progress')
      and ${idBy.status} >= ${idFloor("vs", startOfDay(range.from))}
      and ${idBy.status} < ${idFloor("vs", later(startOfDay(range.to), dayMs))}
    group by 1`);
  return rows.map((row) => ({
    day: row.day,
    counts: {
      created: row.created,
      in_progress: row.in_progress,
      succeeded: row.succeeded,
      failed: row.failed,
      expired: row.expired,
      cancelled: row.cancelled,
    },
    failureCodes: row.failure_codes,
    secondsBuckets: row.seconds_buckets,
    stages: row.stages,
  }));
}
