import { randomUUID } from "node:crypto";
import type { Method } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";
import type { FailureCode } from "@assay/contract/sessions";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { type Sql, sql } from "../../platform/db/sql.ts";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { idFloor } from "../../platform/kernel/ids.ts";
import {
  bucketOfSeconds,
  type Day,
  dayOf,
  type FigureRow,
  type SessionStage,
  stageOf,
  startOfDay,
} from "./day-figures.ts";
import { idBy, type SessionRow, stageBeforeSteps } from "./session.store.ts";

export type OutcomeOfDay =
  /** `method` is null for a success whose method is no longer stored. */
  | { status: "succeeded"; completedAt: Date; method: Method | null }
  | { status: "failed"; failureCode: FailureCode }
  | { status: "cancelled" };

/** A row of `session_outcomes`. */
type OutcomeRow = {
  id: string;
  organizationId: OrganizationId;
  sandbox: boolean;
  day: Day;
  status: "succeeded" | "failed" | "expired" | "cancelled";
  failureCode: FailureCode | null;
  secondsBucket: number | null;
  stage: SessionStage;
  method: Method | null;
  by: number;
};

/**
 * The outcome of a session on the day of its creation, as part of the statement that ends it. `by` is -1 for
 * a retraction. Each outcome is a new row, so that sessions do not wait; a job adds them up.
 */
export function outcomeWrite(session: SessionRow, outcome: OutcomeOfDay, by: 1 | -1 = 1): Sql {
  const { organizationId, sandbox, createdAt } = session;
  const { status } = outcome;
  const bucket =
    status === "succeeded"
      ? bucketOfSeconds((outcome.completedAt.getTime() - createdAt.getTime()) / 1000)
      : null;
  const reached = status === "succeeded" ? status : stageOf(session.steps);
  const stage =
    reached === null
      ? sql`(select ${stageBeforeSteps} from sessions where id = ${session.id})`
      : sql`${reached}`;
  return sql`
    insert into session_outcomes (organization_id, id, sandbox, day, status, failure_code, seconds_bucket, stage, method, by)
    values (${organizationId}, ${randomUUID()}, ${sandbox}, ${dayOf(createdAt)}, ${status},
      ${status === "failed" ? outcome.failureCode : null}, ${bucket}, ${stage},
      ${status === "succeeded" ? outcome.method : null}, ${by})`;
}

/** The next outcomes that no job has added up yet. */
export function takeOutcomes(db: Queryable, among: Among): Promise<OutcomeRow[]> {
  return db.rows<OutcomeRow>(sql`
    select id, organization_id, sandbox, to_char(day, 'YYYY-MM-DD') as day, status, failure_code, seconds_bucket, stage, method, by
    from session_outcomes where ${among.where(sql`id`, "uuid")} limit ${among.limit} ${among.lock}`);
}

export async function deleteOutcomes(tx: Tx, outcomes: readonly OutcomeRow[]): Promise<void> {
  await tx.run(sql`
    delete from session_outcomes where (organization_id, id) in (select * from unnest(
      ${outcomes.map((outcome) => outcome.organizationId)}::uuid[], ${outcomes.map(({ id }) => id)}::uuid[]))`);
}

// A process always writes the same row of a day, and two processes rarely the same one.
const shards = 16;
const ownShard = Math.floor(Math.random() * shards);

/** The sums of two objects of counts: the stored one and the one to be added. */
const summed = (column: Sql) => sql`(
  select coalesce(jsonb_object_agg(key, count), '{}') from (
    select key, sum(count::bigint) as count from (
      select * from jsonb_each_text(session_days.${column}) union all select * from jsonb_each_text(excluded.${column})
    ) as both_of_them (key, count) group by key) as added)`;

/** Adds outcomes in one statement, in the order of their key, so that batches cannot deadlock. */
export async function countOutcomes(tx: Tx, outcomes: readonly Omit<OutcomeRow, "id">[]): Promise<void> {
  const days = [...daysOf(outcomes)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
  await tx.run(sql`
    insert into session_days (organization_id, day, sandbox, shard, succeeded, failed, expired, cancelled, failure_codes,
      seconds_buckets, stages, methods)
    select organization_id, day, sandbox, ${ownShard}::smallint, succeeded, failed, expired, cancelled, failure_codes,
      seconds_buckets, stages, methods
    from unnest(
      ${days.map((day) => day.organizationId)}::uuid[],
      ${days.map((day) => day.day)}::date[],
      ${days.map((day) => day.sandbox)}::boolean[],
      ${days.map((day) => day.counts.succeeded)}::bigint[],
      ${days.map((day) => day.counts.failed)}::bigint[],
      ${days.map((day) => day.counts.expired)}::bigint[],
      ${days.map((day) => day.counts.cancelled)}::bigint[],
      ${days.map((day) => JSON.stringify(day.failureCodes))}::jsonb[],
      ${days.map((day) => JSON.stringify(day.secondsBuckets))}::jsonb[],
      ${days.map((day) => JSON.stringify(day.stages))}::jsonb[],
      ${days.map((day) => JSON.stringify(day.methods))}::jsonb[])
      as counted (organization_id, day, sandbox, succeeded, failed, expired, cancelled, failure_codes, seconds_buckets, stages, methods)
    on conflict (organization_id, day, sandbox, shard) do update set
      succeeded = session_days.succeeded + excluded.succeeded, failed = session_days.failed + excluded.failed,
      expired = session_days.expired + excluded.expired, cancelled = session_days.cancelled + excluded.cancelled,
      failure_codes = ${summed(sql`failure_codes`)}, seconds_buckets = ${summed(sql`seconds_buckets`)},
      stages = ${summed(sql`stages`)}, methods = ${summed(sql`methods`)}`);
}

function daysOf(outcomes: readonly Omit<OutcomeRow, "id">[]) {
  const noDay = ({ organizationId, day, sandbox }: Omit<OutcomeRow, "id">) => ({
    organizationId,
    day,
    sandbox,
    counts: { succeeded: 0, failed: 0, expired: 0, cancelled: 0 },
    failureCodes: {} as Record<string, number>,
    secondsBuckets: {} as Record<string, number>,
    stages: {} as Record<string, number>,
    methods: {} as Record<string, number>,
  });
  const days = new Map<string, ReturnType<typeof noDay>>();
  const add = (to: Record<string, number>, key: string | number | null, by: number) => {
    if (key !== null) to[key] = (to[key] ?? 0) + by;
  };
  for (const outcome of outcomes) {
    const key = `${outcome.organizationId} ${outcome.day} ${outcome.sandbox}`;
    const day = days.get(key) ?? noDay(outcome);
    days.set(key, day);
    day.counts[outcome.status] += outcome.by;
    add(day.failureCodes, outcome.failureCode, outcome.by);
    add(day.secondsBuckets, outcome.secondsBucket, outcome.by);
    add(day.stages, outcome.stage, outcome.by);
    add(day.methods, outcome.method, outcome.by);
  }
  return days;
}

/**
 * All figures of the overview in one statement, which sees one snapshot. So a session that ends meanwhile is
 * counted once, as open or by its outcome.
 */
export async function readFigures(
  db: Queryable,
  tenant: Tenant,
  range: { from: Day; to: Day },
  now: Date,
): Promise<FigureRow[]> {
  type Counted = "created" | "inProgress" | "succeeded" | "failed" | "expired" | "cancelled";
  const rows = await db.rows<Omit<FigureRow, "counts"> & Record<Counted, number>>(sql`
    select to_char(day, 'YYYY-MM-DD') as day, 0::bigint as created, 0::bigint as in_progress, succeeded, failed, expired,
      cancelled, failure_codes, seconds_buckets, stages, methods
    from session_days
    where ${ownedBy(tenant)}
      and day between ${range.from}::date and ${range.to}::date
    union all
    select to_char(day, 'YYYY-MM-DD'), 0, 0, case status when 'succeeded' then by else 0 end,
      case status when 'failed' then by else 0 end, 0, case status when 'cancelled' then by else 0 end,
      case when failure_code is null then '{}' else jsonb_build_object(failure_code, by) end,
      case when seconds_bucket is null then '{}' else jsonb_build_object(seconds_bucket, by) end,
      jsonb_build_object(stage, by), case when method is null then '{}' else jsonb_build_object(method, by) end
    from session_outcomes
    where ${ownedBy(tenant)}
      and day between ${range.from}::date and ${range.to}::date
    union all
    select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
      count(*) filter (where status = 'created' and expires_at > ${now}),
      count(*) filter (where status = 'in_progress' and expires_at > ${now}),
      0, 0, count(*) filter (where expires_at <= ${now}), 0, '{}', '{}', '{}', '{}'
    from sessions
    where ${ownedBy(tenant)}
      and status in ('created', 'in_progress')
      and ${idBy.status} >= ${idFloor("vs", startOfDay(range.from))}
      and ${idBy.status} < ${idFloor("vs", later(startOfDay(range.to), dayMs))}
    group by 1`);
  return rows.map(({ day, failureCodes, secondsBuckets, stages, methods, inProgress, ...counts }) => ({
    day,
    counts: { ...counts, in_progress: inProgress },
    failureCodes,
    secondsBuckets,
    stages,
    methods,
  }));
}
