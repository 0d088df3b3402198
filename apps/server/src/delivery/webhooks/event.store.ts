import { type EventType, eventTypes } from "@assay/contract/events";
import type { EventId, OrganizationId, SessionId } from "@assay/contract/ids";
import { firstRow, type Queryable, type Question, type Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import {
  beyondIdPrefix,
  byIdPrefix,
  newestOf,
  newestOfEach,
  orderOf,
  readPage,
} from "../../platform/db/page.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { noSql, type Sql, sql } from "../../platform/db/sql.ts";
import { isSandbox, type Tenant } from "../../platform/kernel/caller.ts";
import { later } from "../../platform/kernel/clock.ts";
import { idFloor, madeSoonAfter } from "../../platform/kernel/ids.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type EventRow = {
  id: EventId;
  organizationId: OrganizationId;
  type: EventType;
  sessionId: SessionId | null;
  sandbox: boolean;
  contractVersion: number | null;
  clientReferenceId: string | null;
  createdAt: Date;
  retractedAt: Date | null;
};

const columns = sql`id, organization_id, type, session_id, sandbox, contract_version, client_reference_id, created_at,
  retracted_at`;

/** Sent with the next statement or the commit. */
export function writeEvents(tx: Tx, events: readonly EventRow[], now: Date): void {
  tx.write(sql`
    insert into events (id, organization_id, type, session_id, sandbox, contract_version, client_reference_id, created_at)
    select e.*, ${now}::timestamptz from unnest(
      ${events.map((event) => event.id)}::text[],
      ${events.map((event) => event.organizationId)}::uuid[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.sessionId)}::text[],
      ${events.map((event) => event.sandbox)}::boolean[],
      ${events.map((event) => event.contractVersion)}::integer[],
      ${events.map((event) => event.clientReferenceId)}::text[]) as e`);
}

/** Holds for the events of a session: none is older than the session. */
function ofSession(sessionId: SessionId): Sql {
  return sql`session_id = ${sessionId} and id >= ${madeSoonAfter("evt", sessionId, 0).from}`;
}

export async function eventsOfSession(
  tx: Tx,
  organizationId: OrganizationId,
  sessionId: SessionId,
): Promise<EventId[]> {
  const rows = await tx.rows<{ id: EventId }>(
    sql`select id from events where ${ofSession(sessionId)} and organization_id = ${organizationId}`,
  );
  return rows.map((row) => row.id);
}

/** The event that reported the success of a session, unless it was retracted. */
export async function findResultEvent(
  db: Queryable,
  tenant: Tenant,
  sessionId: SessionId,
): Promise<EventId | null> {
  const type: EventType = "verification.session.succeeded";
  const row = await db.first<{ id: EventId }>(sql`
    select id from events
    where ${ofSession(sessionId)} and ${ownedBy(tenant)} and type = ${type} and retracted_at is null
    limit 1`);
  return row?.id ?? null;
}

/** Retracts the events of a session, which another event replaces. Their payloads are scrubbed. */
export async function retractEvents(
  tx: Tx,
  organizationId: OrganizationId,
  sessionId: SessionId,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update events set retracted_at = ${now}
    where ${ofSession(sessionId)} and organization_id = ${organizationId} and retracted_at is null`);
}

export function findEvent(db: Queryable, tenant: Tenant, id: EventId): Promise<EventRow | null> {
  return db.first<EventRow>(sql`select ${columns} from events where ${ownedBy(tenant)} and id = ${id}`);
}

/**
 * Whether the tenant has sent fewer test events since then. The function locks the organization until the
 * transaction ends, so that concurrent calls are counted one after the other.
 */
export function fewerTestEventsSince(tenant: Tenant, since: Date, most: number): Question<boolean> {
  const { statement, read } = firstRow<{ isFewer: boolean }>(sql`
    select has_fewer_test_events(${tenant.organizationId}, ${isSandbox(tenant)}, ${eventTypes}::text[], ${idFloor("evt", since)}, ${most})
      as is_fewer`);
  return { statement, read: (rows) => read(rows)?.isFewer === true };
}

type EventFilter = {
  type?: EventType | undefined;
  sessionId?: SessionId | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
} & PageStart<EventId>;

export function listEvents(db: Queryable, tenant: Tenant, filter: EventFilter & { limit: number }) {
  return readPage<EventRow>(db, {
    ...filter,
    cursorExists: (id) => sql`select 1 from events where ${ownedBy(tenant)} and id = ${id}`,
    rowsAfter: (limit) => eventsPage(tenant, filter, limit),
  });
}

/**
 * The prefix of the id with the collation of the index that a list is read from. `0010_sessions.sql` says why
 * each index has another collation.
 */
const idBy = {
  type: sql`left(id, 14) collate by_type`,
  session: sql`left(id, 14) collate by_session`,
};

export function eventsPage(tenant: Tenant, filter: EventFilter, limit: number): Sql {
  const { type, sessionId, createdFrom, createdTo } = filter;
  const order = orderOf(filter);
  const key = sessionId !== undefined ? idBy.session : idBy.type;
  // Ids begin with their creation time, so a range of times is a range of the index that the list is read by.
  const within = sql`
    ${createdFrom === undefined ? noSql : sql`and ${key} >= ${idFloor("evt", createdFrom)}`}
    ${createdTo === undefined ? noSql : sql`and ${key} < ${idFloor("evt", later(createdTo, 1))}`}
    ${beyondIdPrefix(filter, key, sql`id`)}`;
  const range = (of: Sql) => sql`
    select ${columns} from events
    where ${ownedBy(tenant)} ${of}
      ${sessionId === undefined ? noSql : sql`and ${ofSession(sessionId)}`} ${within}
    ${byIdPrefix(key, limit, order)}`;
  if (type === undefined && sessionId === undefined)
    return newestOfEach(
      sql`of_type`,
      eventTypes.map((each) => sql`${each}::text`),
      range(sql`and type = each.of_type`),
      sql`id`,
      limit,
      order,
    );
  return newestOf([range(type === undefined ? noSql : sql`and type = ${type}`)], sql`id`, limit, order);
}

/** Events from before `cutoff`. */
export function oldEvents(cutoff: Date): Expired {
  return { table: "events", key: "id", type: "text", due: sql`id < ${idFloor("evt", cutoff)}`, owned: true };
}
