import assert from "node:assert/strict";
import test from "node:test";
import type { AuditEvent } from "@assay/contract/audit";
import type { EventType } from "@assay/contract/events";
import { environments } from "@assay/contract/facts";
import type { AuditLogId, DeliveryId, EventId, Id, SessionId } from "@assay/contract/ids";
import { deliveryStatuses } from "@assay/contract/webhooks";
import fc from "fast-check";
import { deliveriesPage } from "../../../src/delivery/webhooks/delivery.store.ts";
import { eventsPage } from "../../../src/delivery/webhooks/event.store.ts";
import { auditPage } from "../../../src/platform/audit/audit.store.ts";
import { type Sql, sql } from "../../../src/platform/db/sql.ts";
import { isSandbox } from "../../../src/platform/kernel/caller.ts";
import { dayMs, hourMs, later } from "../../../src/platform/kernel/clock.ts";
import { knownId, newId, newUuid, uuidFloor } from "../../../src/platform/kernel/ids.ts";
import { createPartner, expectData, readAll, readNewer } from "../../support/api.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";

// No job runs here, so what is due stays due.
const { api, clock, core } = await startTestService({ role: "api" });
const now = clock.now();

const pickOf = <T>(list: readonly T[], seed: number): T => {
  const item = list[seed % list.length];
  assert.ok(item !== undefined);
  return item;
};

const types: readonly EventType[] = ["verification.session.expired", "verification.session.failed"];
const endpointIds = [1, 2].map(() => newId("whe", now));
const sessionIds = [1, 2, 3].map(() => newId("vs", later(now, -27 * dayMs)));
const audited: readonly AuditEvent[] = ["session.created", "session.expired", "api_key.created"];
const actorIds = ["key-a", "key-b"];

/** As if another process had made it in the same millisecond: the indexed prefix is the same. */
function alike<T extends Id<string>>(first: Map<number, T>, at: Date, id: T, beginning: number): T {
  const before = first.get(at.getTime());
  if (before === undefined) first.set(at.getTime(), id);
  return before === undefined ? id : knownId(before.slice(0, beginning) + id.slice(beginning));
}

/** Some have the least id of their millisecond. */
const auditIdAt = (at: Date, i: number) =>
  i % 2 === 0
    ? newUuid<AuditLogId>(at)
    : knownId<AuditLogId>(uuidFloor(at).slice(0, 18) + newUuid(at).slice(18));

/** Weeks of history of two organizations, one in both environments, some entries in one millisecond. */
async function seed() {
  const [partner, other] = [await createPartner(api), await createPartner(api)];
  await openLive(core, partner.organizationId);
  const callers = { sandbox: partner.api, live: (await withLiveKey(partner)).api };
  const offsets = [
    0,
    1,
    2,
    hourMs,
    3 * hourMs,
    dayMs,
    dayMs + 1,
    4 * dayMs,
    11 * dayMs,
    18 * dayMs,
    26 * dayMs,
  ];
  const firsts = {
    events: new Map<number, EventId>(),
    deliveries: new Map<number, DeliveryId>(),
    audits: new Map<number, AuditLogId>(),
  };
  const rows = Array.from({ length: 120 }, (_, i) => {
    const isAlike = i % 3 !== 0;
    const createdAt = later(now, -pickOf(offsets, i * 5) - hourMs);
    return {
      organizationId: i % 11 === 0 ? other.organizationId : partner.organizationId,
      environment: pickOf(environments, Math.floor(i / 3)),
      createdAt,
      eventId: alike(isAlike ? firsts.events : new Map(), createdAt, newId("evt", createdAt), 14),
      deliveryId: alike(isAlike ? firsts.deliveries : new Map(), createdAt, newId("whd", createdAt), 14),
      auditId: alike(isAlike ? firsts.audits : new Map(), createdAt, auditIdAt(createdAt, i), 18),
      type: pickOf(types, i + Math.floor(i / 7)),
      sessionId: pickOf([null, ...sessionIds], i),
      endpointId: pickOf(endpointIds, i + Math.floor(i / 5)),
      status: pickOf(deliveryStatuses, i + Math.floor(i / 9)),
      audited: pickOf(audited, i + Math.floor(i / 4)),
      actorId: pickOf([null, ...actorIds], i),
    };
  });
  const of = <K extends keyof (typeof rows)[number]>(name: K) => rows.map((row) => row[name]);
  await core.db.run(sql`
    insert into events (id, organization_id, type, session_id, sandbox, created_at)
    select id, organization_id, type, session_id, sandbox, created_at
    from unnest(${of("eventId")}::text[], ${of("organizationId")}::uuid[], ${of("type")}::text[], ${of("sessionId")}::text[],
      ${of("createdAt")}::timestamptz[], ${rows.map(isSandbox)}::boolean[])
      as t (id, organization_id, type, session_id, created_at, sandbox)`);
  await core.db.run(sql`
    insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, status, failed, attempt_count,
      created_at, updated_at)
    select id, organization_id, sandbox, event_id, type, endpoint_id, case when status = 'delivering' then 'pending' else status end,
      status = 'failed', 0, created_at, created_at
    from unnest(${of("deliveryId")}::text[], ${of("organizationId")}::uuid[], ${of("eventId")}::text[], ${of("type")}::text[],
      ${of("endpointId")}::text[], ${of("status")}::text[], ${of("createdAt")}::timestamptz[], ${rows.map(isSandbox)}::boolean[])
      as t (id, organization_id, event_id, type, endpoint_id, status, created_at, sandbox)`);
  const open = rows.filter((row) => row.status === "pending" || row.status === "delivering");
  await core.db.run(sql`
    insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, lease_until,
      scrubbed, changed_at)
    select organization_id, sandbox, delivery_id, endpoint_id, ${now}, 0, 1, lease_until, false, ${now}
    from unnest(${open.map((row) => row.organizationId)}::uuid[], ${open.map((row) => row.deliveryId)}::text[],
      ${open.map((row) => row.endpointId)}::text[],
      ${open.map((row, at) => (row.status === "delivering" ? later(now, hourMs) : at % 2 === 0 ? null : now))}::timestamptz[],
      ${open.map(isSandbox)}::boolean[])
      as t (organization_id, delivery_id, endpoint_id, lease_until, sandbox)`);
  // Entries about creating the organizations would disturb.
  await core.db.run(sql`delete from audit_logs`);
  await core.db.run(sql`
    insert into audit_logs (id, organization_id, event, actor_kind, actor_id, created_at)
    select id, organization_id, event, case when actor_id is null then 'system' else 'key' end, actor_id, created_at
    from unnest(${of("auditId")}::uuid[], ${of("organizationId")}::uuid[], ${of("audited")}::text[], ${of("actorId")}::text[],
      ${of("createdAt")}::timestamptz[]) as t (id, organization_id, event, actor_id, created_at)`);
  return { partner, callers, rows: rows.filter((row) => row.organizationId === partner.organizationId) };
}

const { partner, callers, rows } = await seed();
type HistoryRow = (typeof rows)[number];

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const moment = fc
  .tuple(fc.constantFrom(...rows.map((row) => row.createdAt)), fc.constantFrom(-1, 0, 1))
  .map(([at, by]) => later(at, by));
const period = fc
  .record({ from: optional(moment), to: optional(moment) })
  .filter(({ from, to }) => from === undefined || to === undefined || from <= to);
const pageSize = fc.integer({ min: 3, max: 100 });

type Period = { from: Date | undefined; to: Date | undefined };

/** The ids of a list, page by page, are those of the rows that `fits` picks, newest first. */
async function expectListed(
  list: { path: string; as: typeof partner.api; query: Record<string, string | undefined>; limit: number },
  { from, to }: Period,
  id: (row: HistoryRow) => string,
  fits: (row: HistoryRow) => boolean,
): Promise<void> {
  const query = { ...list.query, created_from: from?.toISOString(), created_to: to?.toISOString() };
  const listed = await readAll<{ id: string }>(list.as, list.path, query, list.limit);
  const expected = rows
    .filter(
      (row) => (from === undefined || row.createdAt >= from) && (to === undefined || row.createdAt <= to),
    )
    .filter(fits)
    .map(id)
    .sort()
    .reverse();
  assert.deepEqual(
    listed.map((item) => item.id),
    expected,
  );
  const last = expected.at(-1);
  // The audit log is no list of partners.
  if (last === undefined || list.path.startsWith("/v1/auth/")) return;
  assert.deepEqual(await readNewer(list.as, list.path, query, list.limit, last), listed.slice(0, -1));
}

const isOrAny = <T>(wanted: T | undefined, value: T) => wanted === undefined || wanted === value;

test("every combination of filters gives exactly the deliveries it should, in order, on any size of page", async () => {
  await fc.assert(
    fc.asyncProperty(
      optional(fc.constantFrom(...deliveryStatuses)),
      optional(fc.constantFrom(...endpointIds, newId("whe", now))),
      fc.option(fc.constantFrom(...rows.map((row) => row.eventId)), { nil: undefined, freq: 2 }),
      period,
      pageSize,
      fc.constantFrom(...environments),
      async (status, endpoint_id, event_id, when, limit, environment) => {
        const query = { status, endpoint_id, event_id };
        await expectListed(
          { path: "/v1/webhooks/deliveries", as: callers[environment], query, limit },
          when,
          (row) => row.deliveryId,
          (row) =>
            row.environment === environment &&
            isOrAny(status, row.status) &&
            isOrAny(endpoint_id, row.endpointId) &&
            isOrAny(event_id, row.eventId),
        );
      },
    ),
    { numRuns: 120 },
  );
});

test("every combination of filters gives exactly the events it should, in order, on any size of page", async () => {
  await fc.assert(
    fc.asyncProperty(
      optional(fc.constantFrom(...types)),
      optional(fc.constantFrom(...sessionIds)),
      period,
      pageSize,
      fc.constantFrom(...environments),
      async (type, session_id, when, limit, environment) => {
        await expectListed(
          { path: "/v1/webhooks/events", as: callers[environment], query: { type, session_id }, limit },
          when,
          (row) => row.eventId,
          (row) =>
            row.environment === environment &&
            isOrAny(type, row.type) &&
            isOrAny<string | null>(session_id, row.sessionId),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test("every combination of filters gives exactly the audit entries it should, in order, on any size of page", async () => {
  await fc.assert(
    fc.asyncProperty(
      optional(fc.constantFrom(...audited)),
      optional(fc.constantFrom(...actorIds)),
      period,
      pageSize,
      async (event, actor_id, when, limit) => {
        await expectListed(
          { path: "/v1/auth/orgs/audit-logs", as: partner.owner.api, query: { event, actor_id }, limit },
          when,
          (row) => row.auditId,
          (row) => isOrAny(event, row.audited) && isOrAny<string | null>(actor_id, row.actorId),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test("a cursor of the audit log may be written in capitals", async () => {
  const path = "/v1/auth/orgs/audit-logs";
  const all = expectData(await partner.owner.api.get(path, { limit: 20 }));
  const cursor = all[4].id.toUpperCase();
  const rest = expectData(await partner.owner.api.get(path, { limit: 15, starting_after: cursor }));
  assert.deepEqual(rest, all.slice(5));
});

type PlanNode = {
  "Node Type": string;
  "Index Name"?: string;
  "One-Time Filter"?: string;
  Filter?: string;
  Plans?: PlanNode[];
};

/** The nodes of the plan that PostgreSQL makes when it avoids sorts and sequential scans. */
async function planOf(statement: Sql): Promise<PlanNode[]> {
  const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)];
  return core.db.transaction(async (tx) => {
    for (const way of ["seqscan", "bitmapscan", "sort"])
      await tx.run(sql`select set_config(${`enable_${way}`}, 'off', true)`);
    const { "QUERY PLAN": plans } = await tx.one<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      sql`explain (format json) ${statement}`,
    );
    return plans.flatMap(({ Plan }) => flatten(Plan));
  });
}

/** Removes conditions that hold for almost all rows: the id after the cursor, the endpoint's owner. */
function withoutImplied(filter: string): string {
  return filter.replaceAll(
    / AND |[()]|\bid (?:<|>=?) '[^']*'::\w+|organization_id = '[^']*'::uuid|NOT sandbox/g,
    "",
  );
}

/** Whether a node reads something that is stored. */
const isRead = (node: PlanNode) =>
  node["Node Type"].includes("Scan") &&
  !["Subquery Scan", "Function Scan", "Values Scan"].includes(node["Node Type"]);

const combinations = <T extends Record<string, unknown>>(full: T): Partial<T>[] =>
  Object.entries(full).reduce<Partial<T>[]>(
    (some, [name, value]) => some.flatMap((filter) => [filter, { ...filter, [name]: value }]),
    [{}],
  );

test("every list is a range of the index that is meant for it, whatever it is filtered by", async () => {
  const times = { createdFrom: later(now, -dayMs), createdTo: now };
  const row = rows[0];
  assert.ok(row !== undefined);
  const { organizationId, endpointId, eventId } = row;
  const tenant = { organizationId, environment: "live" } as const;
  const cursors = ["startingAfter", "endingBefore"] as const;
  const deliveries = cursors.flatMap((cursor) =>
    combinations({
      status: "failed" as const,
      endpointId,
      eventId,
      ...times,
      [cursor]: knownId<DeliveryId>("whd_x"),
    }),
  );
  const events = cursors.flatMap((cursor) =>
    combinations({
      type: row.type,
      sessionId: knownId<SessionId>("vs_x"),
      ...times,
      [cursor]: knownId<EventId>("evt_x"),
    }),
  );
  const audits = combinations({ event: row.audited, actorId: "key-a", ...times, startingAfter: row.auditId });
  const cases = [
    ...deliveries.map((filter) => ({
      filter,
      page: deliveriesPage(tenant, filter, 11, now),
      index: `webhook_deliveries_${filter.endpointId ? "endpoint" : "organization"}`,
    })),
    ...events.map((filter) => ({
      filter,
      page: eventsPage(tenant, filter, 11),
      index: `events_${filter.sessionId ? "session" : "type"}`,
    })),
    ...audits.map((filter) => ({
      filter,
      page: auditPage(organizationId, filter, 11),
      index: `audit_logs_${filter.actorId ? "actor_event" : filter.event ? "event" : "organization"}`,
    })),
  ];
  for (const { filter, page, index } of cases) {
    const plan = await planOf(page);
    const shown = `${JSON.stringify(filter)}\n${JSON.stringify(plan[0], null, 1)}`;
    const scans = plan.filter(isRead);
    // An event or a cursor before the period: PostgreSQL sees that nothing can match before it reads.
    const leaves = plan.filter((node) => (node.Plans ?? []).length === 0);
    if (scans.length === 0 && leaves.some((node) => node["One-Time Filter"] === "false")) continue;
    assert.deepEqual([...new Set(scans.map((node) => node["Index Name"]))], [index], shown);
    // Only what was read for the page is sorted.
    const parents = plan.filter((node) => node.Plans?.some((child) => scans.includes(child)));
    assert.deepEqual([...new Set(parents.map((node) => node["Node Type"]))], ["Limit"], shown);
    // An event has few deliveries, made in the same millisecond, and a session few events. Other conditions
    // are checked on each of them.
    if ("eventId" in filter || index.endsWith("_session")) continue;
    const filters = plan.flatMap((node) => node.Filter ?? []).map(withoutImplied);
    assert.deepEqual(
      filters.filter((text) => text !== ""),
      [],
      shown,
    );
  }
});

test("the indexes of the lists grow at their end, where a full page is left behind full", async () => {
  const descending = await core.db.rows(sql`
    select indexname from pg_indexes where indexdef ~ 'COLLATE by_\\w+ DESC'`);
  assert.deepEqual(descending, []);
});
