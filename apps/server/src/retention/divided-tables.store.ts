import type { Config } from "../config.ts";
import type { Queryable } from "../db/db.ts";
import type { Settle } from "../db/parts.store.ts";
import type { DividedTable, Part } from "../db/parts.ts";
import { Sql, sql } from "../db/sql.ts";
import { dayMs, hourMs, later, minuteMs } from "../kernel/clock.ts";
import { idFloor } from "../kernel/ids.ts";

export type DatedPart = Extract<Part, { kind: "dated" }>;
type Period = Pick<DatedPart, "from" | "to">;

/** A table that grows with sessions, and what is due when a part of it has had its time. */
export type GrowingTable = DividedTable & {
  /** Tables that are divided together, under the name of the one that decides when. */
  group: "sessions" | "events" | "audit_logs";
  keptDays: (config: Config) => number;
  /** How long after its id was made a row begins to be kept at the latest: a session may end an hour after it was created. */
  beginsWithinMs: number;
  /** Indexes that only parts have (`PART`), so that what is still owed is found without reading all of one. */
  alsoInParts: readonly string[];
  /** Rows of other tables that go with those of parts that follow each other, `limit` at a time, before they are dropped. */
  beside: (period: Period, limit: number) => readonly Sql[];
  /** What a part holds that must not go with it is put into the rest of the table, in the transaction that drops the part. */
  settle: (part: Period, cutoff: Date, now: Date) => Settle;
  /** Once the parts are gone. */
  afterwards: (period: Period) => readonly Sql[];
};

const nothing = () => [];
const nobodyOwes = () => () => [];

/** Ids of this prefix of the time of a part, quoted. */
function within(prefix: "vs" | "va" | "whd", column: string, { from, to }: Period, apartMs = 0): string {
  return `${column} >= '${idFloor(prefix, later(from, -apartMs))}' and ${column} < '${idFloor(prefix, later(to, apartMs))}'`;
}

/** The clocks of processes agree to seconds. An attempt can have an id from before its session's by so much, and one from up to an hour after it. */
const clocksApartMs = minuteMs;

/**
 * In this order: what belongs to a session goes after it, because what stays is found by the session that stays.
 *
 * Left out are tables whose rows go long before their session does (tokens and sockets of devices after `ATTEMPT_RETENTION_DAYS`, remembered answers after a
 * day, places in the queue), and those with few rows (attempts of deliveries that failed, what was answered to them).
 */
export const growingTables: readonly GrowingTable[] = [
  {
    table: "sessions",
    key: "id",
    ids: "vs",
    group: "sessions",
    keptDays: (config) => config.sessionRetentionDays,
    beginsWithinMs: hourMs,
    // A withdrawal ends a session anew, days after its hour.
    alsoInParts: ["create index on PART (id) where completed_at > expires_at"],
    beside: (period, limit) => [
      inBatch("handoff_tokens", "token_hash", "session_id", "vs", period, limit),
      inBatch("attempt_sockets", "attempt_id", "session_id", "vs", period, limit),
    ],
    settle: (_part, cutoff) => (name) => [
      `insert into sessions select * from ${name} where status in ('created', 'in_progress')`,
      `insert into sessions select * from ${name} where completed_at > expires_at and completed_at >= '${cutoff.toISOString()}'`,
    ],
    afterwards: (period) => [attemptsPastMidnight(period)],
  },
  {
    table: "attempts",
    key: "id",
    ids: "va",
    group: "sessions",
    keptDays: (config) => config.sessionRetentionDays,
    beginsWithinMs: hourMs,
    alsoInParts: [],
    beside: nothing,
    settle: (part) => (name) => [
      `insert into attempts select * from ${name} where session_id = any(array(
        select id from sessions where ${within("vs", "id", { ...part, from: later(part.from, -hourMs) }, clocksApartMs)}))`,
    ],
    afterwards: nothing,
  },
  {
    table: "consents",
    key: "session_id",
    ids: "vs",
    group: "sessions",
    keptDays: (config) => config.sessionRetentionDays,
    beginsWithinMs: hourMs,
    alsoInParts: [],
    beside: nothing,
    settle: (part) => (name) => [
      `insert into consents select * from ${name} where session_id = any(array(
        select id from sessions where ${within("vs", "id", part)}))`,
    ],
    afterwards: nothing,
  },
  {
    table: "events",
    key: "id",
    ids: "evt",
    group: "events",
    keptDays: (config) => config.webhookHistoryDays,
    beginsWithinMs: 0,
    alsoInParts: [],
    beside: nothing,
    settle: nobodyOwes,
    afterwards: nothing,
  },
  {
    table: "webhook_deliveries",
    key: "id",
    ids: "whd",
    group: "events",
    keptDays: (config) => config.webhookHistoryDays,
    beginsWithinMs: 0,
    alsoInParts: [],
    beside: (period, limit) => [
      inBatch("webhook_attempts", "delivery_id", "delivery_id", "whd", period, limit),
      inBatch("webhook_exchanges", "delivery_id", "delivery_id", "whd", period, limit),
    ],
    // What is being sent stays until its result is written down; what waits has waited for all of its time.
    settle: (part, _cutoff, now) => (name) => [
      `delete from webhook_delivery_queue
       where ${within("whd", "delivery_id", part)} and (lease_until > '${now.toISOString()}') is not true`,
      `insert into webhook_deliveries select * from ${name} where id = any(array(
        select delivery_id from webhook_delivery_queue where ${within("whd", "delivery_id", part)}))`,
    ],
    afterwards: nothing,
  },
  {
    table: "audit_logs",
    key: "id",
    ids: "uuid",
    group: "audit_logs",
    keptDays: (config) => config.auditRetentionDays,
    beginsWithinMs: 0,
    alsoInParts: [],
    beside: nothing,
    settle: nobodyOwes,
    afterwards: nothing,
  },
];

export function growingTable(table: string): GrowingTable {
  const found = growingTables.find((each) => each.table === table);
  if (found === undefined) throw new Error(`${table} is not a table that grows with sessions`);
  return found;
}

/** When everything in the part is past its time. */
export function isOver({ keptDays, beginsWithinMs }: GrowingTable, part: Part, config: Config, now: Date) {
  return (
    part.kind !== "rest" &&
    later(part.to, beginsWithinMs + keptDays(config) * dayMs).getTime() <= now.getTime()
  );
}

function inBatch(
  table: string,
  key: string,
  column: string,
  prefix: "vs" | "whd",
  period: Period,
  limit: number,
): Sql {
  const [of, id, by] = [table, key, column].map((text) => new Sql([text], []));
  return sql`
    delete from ${of} where ${id} in (
      select ${id} from ${of} where ${by} >= ${idFloor(prefix, period.from)} and ${by} < ${idFloor(prefix, period.to)} limit ${limit})`;
}

/** Attempts that began after midnight, in the part that comes next, of sessions that went with theirs. */
function attemptsPastMidnight({ to }: Period): Sql {
  return sql`
    delete from attempts a
    where a.id >= ${idFloor("va", to)} and a.id < ${idFloor("va", later(to, hourMs + clocksApartMs))}
      and a.session_id < ${idFloor("vs", to)} and not exists (select from sessions s where s.id = a.session_id)`;
}

/** Code that contains this migration does not take a row's place in its part for its place in the table. */
const leastMigration = "0085_rows_by_their_part.sql";
const leastCode = Number.parseInt(leastMigration, 10);

/** Processes that have been heard of since then, and would delete rows of others in a table that is kept in parts. Those that do not tell what they contain are older. */
export async function listOlderProcesses(db: Queryable, since: Date): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from process_reports where coalesce(code_version, 0) < ${leastCode} and seen_at > ${since} order by name`);
  return rows.map(({ name }) => name);
}

/** Whether no older code can be started on this database (`db/schema-version.ts`). */
export async function isClosedToOlderCode(db: Queryable): Promise<boolean> {
  return (await db.first(sql`select from schema_migrations where least_code >= ${leastCode}`)) !== null;
}

/** There is no way back from it: what is divided stays so. */
export async function closeToOlderCode(db: Queryable): Promise<void> {
  await db.run(sql`update schema_migrations set least_code = ${leastCode} where name = ${leastMigration}`);
}
