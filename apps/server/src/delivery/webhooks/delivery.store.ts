import type { EventType } from "@assay/contract/events";
import type {
  DeliveryAttemptId,
  DeliveryId,
  EncryptionKeyId,
  EndpointId,
  EventId,
  OrganizationId,
} from "@assay/contract/ids";
import { maxCounted } from "@assay/contract/sessions";
import type {
  countedDeliveries,
  DeliveryError,
  DeliveryStatus,
  EndpointKind,
} from "@assay/contract/webhooks";
import type { Db, Queryable, Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import {
  beyondIdPrefix,
  byIdPrefix,
  newestOf,
  newestOfEach,
  orderOf,
  readPage,
} from "../../platform/db/page.ts";
import { notQuarantined } from "../../platform/db/quarantine.store.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { noSql, type Sql, sql } from "../../platform/db/sql.ts";
import { isSandbox, type Tenant } from "../../platform/kernel/caller.ts";
import { later } from "../../platform/kernel/clock.ts";
import { arrivalIdOf, idFloor, madeWith } from "../../platform/kernel/ids.ts";
import type { PageStart } from "../../platform/kernel/page.ts";
import type { AttemptResult, NextState } from "./delivery.ts";
import type { Exchange } from "./exchange.ts";
import { packPayload, unpackPayload } from "./stored-payload.ts";

/** NOTIFY channel: deliveries are due. Payload: endpoint ids with commas, or empty for every queue. */
export const deliveryChannel = "assay_deliveries";

export type DeliveryRow = {
  id: DeliveryId;
  eventId: EventId;
  eventType: EventType;
  endpointId: EndpointId;
  encryptionKeyId: EncryptionKeyId | null;
  status: DeliveryStatus;
  attemptCount: number;
  nextAttemptAt: Date | null;
  lastStatusCode: number | null;
  lastError: DeliveryError | null;
  lastAttemptAt: Date | null;
  /** Duration of the successful attempt, which has a row only if it is older than this column. */
  arrivalMs: number | null;
  payloadExpiresAt: Date | null;
  payloadScrubbedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

/** The columns of a delivery and, while it is open, of its queue row. It is being sent under a lease. */
const shown = (now: Date) => sql`d.id, d.event_id, d.event_type, d.endpoint_id, d.encryption_key_id,
  case when q.lease_until > ${now} then 'delivering' else d.status end as status, d.attempt_count,
  case when q.lease_until > ${now} then null else q.due_at end as next_attempt_at,
  d.last_status_code, d.last_error, d.last_attempt_at, d.arrival_ms, d.payload_expires_at, d.payload_scrubbed_at, d.created_at,
  greatest(d.updated_at, q.changed_at) as updated_at`;

const withQueue = sql`left join webhook_delivery_queue q on q.organization_id = d.organization_id and q.sandbox = d.sandbox
  and q.delivery_id = d.id and d.status = 'pending'`;

/**
 * The prefix of the id with the collation of the index that a list is read from. `0010_sessions.sql` says why
 * each index has another collation.
 */
const idBy = {
  organization: sql`left(d.id, 14) collate by_organization`,
  endpoint: sql`left(d.id, 14) collate by_endpoint`,
};

export type NewDelivery = {
  id: DeliveryId;
  organizationId: OrganizationId;
  sandbox: boolean;
  eventId: EventId;
  eventType: EventType;
  endpointId: EndpointId;
  /** Null if the endpoint has no active key: then the delivery fails at once. */
  sealed: { encryptionKeyId: EncryptionKeyId; payload: string } | null;
};

/** Writes deliveries with the next statement or the commit, and wakes the workers after it. */
export function writeDeliveries(tx: Tx, deliveries: readonly NewDelivery[], now: Date): void {
  if (deliveries.length === 0) return;
  tx.write(sql`
    with written as (
      insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, encryption_key_id, payload,
        status, failed, last_error, attempt_count, created_at, updated_at)
      select id, organization_id, sandbox, event_id, event_type, endpoint_id, encryption_key_id, payload,
        case when payload is null then 'failed' else 'pending' end, payload is null,
        case when payload is null then 'no_active_key' end, 0, ${now}::timestamptz, ${now}::timestamptz
      from unnest(
        ${deliveries.map((delivery) => delivery.id)}::text[],
        ${deliveries.map((delivery) => delivery.organizationId)}::uuid[],
        ${deliveries.map((delivery) => delivery.sandbox)}::boolean[],
        ${deliveries.map((delivery) => delivery.eventId)}::text[],
        ${deliveries.map((delivery) => delivery.eventType)}::text[],
        ${deliveries.map((delivery) => delivery.endpointId)}::text[],
        ${deliveries.map((delivery) => delivery.sealed?.encryptionKeyId ?? null)}::text[],
        ${deliveries.map(({ sealed }) => (sealed === null ? null : packPayload(sealed.payload)))}::bytea[])
        as d (id, organization_id, sandbox, event_id, event_type, endpoint_id, encryption_key_id, payload)
      returning id, organization_id, sandbox, endpoint_id, status)
    insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, scrubbed,
      changed_at)
    select organization_id, sandbox, id, endpoint_id, ${now}::timestamptz, 0, 0, false, ${now}::timestamptz
    from written where status = 'pending'`);
  const queued = deliveries.filter(({ sealed }) => sealed !== null);
  announceDeliveries(
    tx,
    queued.map(({ endpointId }) => endpointId),
  );
}

// A notification carries less than 8000 bytes.
const maxNamed = 200;

/** Wakes the workers after the commit. If one payload cannot name all endpoints, they look at every queue. */
export function announceDeliveries(db: Queryable, endpointIds: Iterable<EndpointId>): void {
  const ids = [...new Set(endpointIds)];
  if (ids.length > 0) db.notify(deliveryChannel, ids.length <= maxNamed ? ids.join(",") : "");
}

export function findDelivery(
  db: Queryable,
  tenant: Tenant,
  id: DeliveryId,
  now: Date,
): Promise<DeliveryRow | null> {
  return db.first<DeliveryRow>(
    sql`select ${shown(now)} from webhook_deliveries d ${withQueue} where ${ownedBy(tenant, sql`d.`)} and d.id = ${id}`,
  );
}

export function deliveriesOfEvent(
  db: Queryable,
  tenant: Tenant,
  eventId: EventId,
  now: Date,
): Promise<DeliveryRow[]> {
  return db.rows<DeliveryRow>(sql`
    select ${shown(now)} from (${deliveriesPage(tenant, { eventId }, null, now)}) page
    join webhook_deliveries d on d.id = page.id and ${idsOfEvent(eventId)} ${withQueue} order by d.id desc`);
}

/** The deliveries of an event are created with it, so their ids share its time. */
function idsOfEvent(eventId: EventId): Sql {
  const { from, to } = madeWith("whd", eventId);
  return sql`d.id >= ${from} and d.id < ${to}`;
}

/** Whether the event was sealed for an endpoint. Lists both values of `failed` to use the index by id. */
export async function hasSealedDelivery(db: Queryable, tenant: Tenant, eventId: EventId): Promise<boolean> {
  const { from, to } = madeWith("whd", eventId);
  const found = await db.first(sql`
    select 1 from webhook_deliveries d
    where ${ownedBy(tenant, sql`d.`)} and d.failed = any(array[false, true])
      and ${idBy.organization} >= ${from} and ${idBy.organization} < ${to} and ${idsOfEvent(eventId)}
      and d.event_id = ${eventId} and d.encryption_key_id is not null
    limit 1`);
  return found !== null;
}

export type DeliveryAttemptRow = {
  id: DeliveryAttemptId;
  statusCode: number | null;
  error: DeliveryError | null;
  durationMs: number;
  attemptedAt: Date;
};

/** The attempts of a delivery, the newest first. */
export async function attemptsOf(
  db: Queryable,
  organizationId: OrganizationId,
  delivery: DeliveryRow,
): Promise<DeliveryAttemptRow[]> {
  const rows = await db.rows<DeliveryAttemptRow>(sql`
    select id, status_code, error, duration_ms, attempted_at from webhook_attempts
    where delivery_id = ${delivery.id} and organization_id = ${organizationId} order by id desc`);
  const { arrivalMs: durationMs, lastAttemptAt: attemptedAt } = delivery;
  if (durationMs === null || attemptedAt === null) return rows;
  const arrival = {
    id: arrivalIdOf(delivery.id, attemptedAt),
    statusCode: delivery.lastStatusCode,
    error: null,
    durationMs,
    attemptedAt,
  };
  return [arrival, ...rows];
}

type DeliveryFilter = {
  status?: DeliveryStatus | undefined;
  endpointId?: EndpointId | undefined;
  eventId?: EventId | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
} & PageStart<DeliveryId>;

export function listDeliveries(
  db: Queryable,
  tenant: Tenant,
  filter: DeliveryFilter & { limit: number },
  now: Date,
) {
  return readPage<DeliveryRow>(db, {
    ...filter,
    cursorExists: (id) => sql`select 1 from webhook_deliveries where ${ownedBy(tenant)} and id = ${id}`,
    rowsAfter: (limit) => sql`
      select ${shown(now)} from (${deliveriesPage(tenant, filter, limit, now)}) page
      join webhook_deliveries d on d.id = page.id ${withQueue} order by d.id ${orderOf(filter)}`,
  });
}

/** How many deliveries each tab of the list has, counted up to `maxCounted`. */
export function countDeliveries(
  db: Queryable,
  tenant: Tenant,
  filter: Pick<DeliveryFilter, "endpointId" | "createdFrom" | "createdTo">,
  now: Date,
): Promise<Record<"all" | (typeof countedDeliveries)[number], number>> {
  // A page may have a few more rows than requested, because those of one millisecond are read together.
  const count = (status?: DeliveryStatus) => sql`
    (select least(count(*), ${maxCounted}) from (${deliveriesPage(tenant, { ...filter, status }, maxCounted, now)}) counted)`;
  return db.one(sql`
    select ${count()} as "all", ${count("pending")} as pending, ${count("succeeded")} as succeeded,
      ${count("failed")} as failed`);
}

/**
 * The ids of a page of deliveries, or of all if `limit` is null. Failed and open ones are ranges of an index.
 * The range of succeeded ones also has the open ones: slower while a receiver is down.
 */
export function deliveriesPage(tenant: Tenant, filter: DeliveryFilter, limit: number | null, now: Date): Sql {
  const { status, endpointId, eventId, createdFrom, createdTo } = filter;
  const order = orderOf(filter);
  const asked = (key: Sql) => sql`
    ${createdFrom === undefined ? noSql : sql`and ${key} >= ${idFloor("whd", createdFrom)}`}
    ${createdTo === undefined ? noSql : sql`and ${key} < ${idFloor("whd", later(createdTo, 1))}`}
    ${beyondIdPrefix(filter, key, sql`d.id`)}`;
  const within = (key: Sql) => sql`
    ${eventId === undefined ? noSql : sql`and d.event_id = ${eventId} and ${key} >= ${madeWith("whd", eventId).from} and ${key} < ${madeWith("whd", eventId).to} and ${idsOfEvent(eventId)}`}
    ${asked(key)} ${byIdPrefix(key, limit, order)}`;
  if (status === "pending" || status === "delivering") {
    const key = sql`q.delivery_id`;
    const isLeased = sql`coalesce(q.lease_until > ${now}, false)`;
    return sql`
      select d.id from webhook_delivery_queue q join webhook_deliveries d on d.id = q.delivery_id
      where ${ownedBy(tenant, sql`q.`)} and ${status === "delivering" ? isLeased : sql`not ${isLeased}`}
        and d.status = 'pending'
        ${endpointId === undefined ? noSql : sql`and q.endpoint_id = ${endpointId}`} ${within(key)}`;
  }
  const key = endpointId === undefined ? idBy.organization : idBy.endpoint;
  const range = (failed: Sql) => sql`
    select d.id from webhook_deliveries d
    where ${ownedBy(tenant, sql`d.`)} and d.failed = ${failed}
      ${status === "succeeded" ? sql`and d.status = 'succeeded'` : noSql}
      ${endpointId === undefined ? noSql : sql`and d.endpoint_id = ${endpointId}`} ${within(key)}`;
  if (status === undefined)
    return newestOfEach(sql`failed`, [sql`true`, sql`false`], range(sql`each.failed`), sql`id`, limit, order);
  return newestOf([range(sql`${status === "failed"}`)], sql`id`, limit, order);
}

/**
 * Failed deliveries of an endpoint whose payload still exists, the oldest first. Locked, so that concurrent
 * calls take different rows.
 */
export async function takeRetriable(
  tx: Tx,
  tenant: Tenant,
  endpointId: EndpointId,
  period: { createdFrom: Date; createdTo: Date },
  limit: number,
  now: Date,
): Promise<DeliveryId[]> {
  const rows = await tx.rows<{ id: DeliveryId }>(sql`
    select d.id from webhook_deliveries d
    where ${ownedBy(tenant, sql`d.`)} and d.endpoint_id = ${endpointId} and d.failed = true
      and ${idBy.endpoint} >= ${idFloor("whd", period.createdFrom)}
      and ${idBy.endpoint} < ${idFloor("whd", later(period.createdTo, 1))} and ${hasPayload(now)}
    order by ${idBy.endpoint} limit ${limit} for update`);
  return rows.map(({ id }) => id);
}

/** Holds for a delivery that can be sent again after it has failed. */
const hasPayload = (now: Date) =>
  sql`status = 'failed' and payload is not null and (payload_expires_at is null or payload_expires_at > ${now})`;

/** Restarts deliveries that are not being sent and still have a payload. Returns their new state. */
export async function restartDeliveries(
  tx: Tx,
  tenant: Tenant,
  ids: readonly DeliveryId[],
  now: Date,
): Promise<DeliveryRow[]> {
  // If a worker is claiming a waiting delivery, the update waits for it and then skips that delivery.
  const restarted = await tx.rows<{ id: DeliveryId }>(sql`
    with waiting as (
      update webhook_delivery_queue set tries_used = 0, due_at = ${now}, lease_owner = null, lease_until = null,
        changed_at = ${now}
      where ${ownedBy(tenant)} and delivery_id = any(${ids}::text[])
        and (lease_until is null or lease_until <= ${now}) and not scrubbed
      returning delivery_id as id),
    failed as (
      update webhook_deliveries set status = 'pending', failed = false, payload_expires_at = null, scrub_at = null,
        updated_at = ${now}
      where ${ownedBy(tenant)} and id = any(${ids}::text[]) and ${hasPayload(now)}
      returning id, endpoint_id),
    queued as (
      insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, scrubbed,
        changed_at)
      select ${tenant.organizationId}, ${isSandbox(tenant)}, id, endpoint_id, ${now}::timestamptz, 0, 0, false, ${now}::timestamptz from failed)
    select id from waiting union all select id from failed`);
  return tx.rows<DeliveryRow>(sql`
    select ${shown(now)} from webhook_deliveries d ${withQueue}
    where ${ownedBy(tenant, sql`d.`)} and d.id = any(${restarted.map((row) => row.id)}::text[])
    order by d.id desc`);
}

// --- the queue ---------------------------------------------------------------------------------------------

/** The names of the job and of the table under which rows are quarantined. */
export const quarantinedAs = { job: "deliver-webhooks", kind: "webhook_deliveries" };

const notInQuarantine = (id: Sql, now: Date) =>
  notQuarantined(quarantinedAs.job, quarantinedAs.kind, id, "text", now);

/** A delivery and whose it is. */
export type OwnDelivery = { id: DeliveryId; organizationId: OrganizationId; sandbox: boolean };

export type LeasedDelivery = OwnDelivery & {
  eventId: EventId;
  eventType: EventType;
  endpointId: EndpointId;
  /** Null if it was scrubbed while a process sent it that died. */
  payload: string | null;
  triesUsed: number;
  leaseNumber: number;
  kind: EndpointKind;
  url: string;
  signingSecret: Buffer;
  /** The secret before a rotation, as long as it also signs. */
  previousSigningSecret: Buffer | null;
  failingSince: Date | null;
  retentionHours: number;
};

export type Wanted = { endpointId: EndpointId; most: number };

/** Which deliveries a worker serves: those of URLs, or those of the listeners with these streams. */
export type Outlet = { kind: "url" } | { kind: "listener"; streamIds: readonly string[] };

const servedBy = (outlet: Outlet) =>
  outlet.kind === "url" ? sql`e.kind = 'url'` : sql`e.listener_stream_id = any(${outlet.streamIds}::uuid[])`;

const previousSecret = (now: Date) => sql`
  case when e.previous_signing_secret_until > ${now} then e.previous_signing_secret end as previous_signing_secret`;

/** Holds for a row of the queue that no worker has leased. */
const isFree = (now: Date) => sql`(q.lease_until is null or q.lease_until <= ${now})`;

/** The heads of the queues that `want` names: due, not leased and not quarantined. */
const dueHead = (outlet: Outlet, now: Date) => sql`
  from webhook_delivery_queue q
  where q.endpoint_id = want.endpoint_id and q.due_at <= ${now} and ${isFree(now)}
    and exists (select from webhook_endpoints e where ${servedBy(outlet)} and e.id = want.endpoint_id and e.enabled)
    and ${notInQuarantine(sql`q.delivery_id`, now)}`;

/**
 * Leases at most the given number of due deliveries of each endpoint, of `only` if given. Reads only the
 * heads of the queues and skips rows that others are claiming. A delivery whose process died is due again
 * after its lease, without a used try.
 */
export async function claimDue(
  db: Db,
  outlet: Outlet,
  wanted: readonly Wanted[],
  lease: { owner: string; now: Date; until: Date },
  only: readonly DeliveryId[] | null = null,
): Promise<LeasedDelivery[]> {
  // The update finds the locked rows by their `ctid`. `offset 0` keeps the lateral joins as lookups for each
  // row: a plan made while the tables were empty would scan them.
  const rows = await db.rows<Stored<LeasedDelivery>>(sql`
    with due as materialized (
      select head.tid
      from unnest(${wanted.map((want) => want.endpointId)}::text[], ${wanted.map((want) => want.most)}::integer[])
        as want (endpoint_id, most)
      cross join lateral (
        select q.ctid as tid ${dueHead(outlet, lease.now)} ${only === null ? noSql : sql`and q.delivery_id = any(${only}::text[])`}
        order by q.due_at limit want.most for update of q skip locked) head),
    leased as (
      update webhook_delivery_queue q set lease_owner = ${lease.owner}, lease_number = q.lease_number + 1,
        lease_until = ${lease.until}, changed_at = ${lease.now}
      where q.ctid = any(array(select tid from due))
      returning q.delivery_id, q.organization_id, q.sandbox, q.endpoint_id, q.tries_used, q.lease_number, q.due_at)
    select q.delivery_id as id, q.organization_id, q.sandbox, d.event_id, d.event_type, q.endpoint_id, d.payload, q.tries_used,
      q.lease_number, e.kind, e.url, e.signing_secret, ${previousSecret(lease.now)}, e.failing_since, e.undelivered_payload_retention_hours as retention_hours
    from leased q
    cross join lateral (select * from webhook_deliveries where id = q.delivery_id offset 0) d
    cross join lateral (select * from webhook_endpoints where id = q.endpoint_id offset 0) e`);
  return rows.map(unpacked);
}

/** A row with its sealed body in the stored form. */
type Stored<T extends LeasedDelivery> = Omit<T, "payload"> & { payload: Buffer | null };

function unpacked<T extends LeasedDelivery>(row: Stored<T>): T {
  const payload = row.payload === null ? null : unpackPayload(row.payload);
  return { ...row, payload } as unknown as T;
}

/** What `claimDue` would claim for one endpoint, without claiming it. */
export function listDue(
  db: Queryable,
  outlet: Outlet,
  { endpointId, most }: Wanted,
  now: Date,
): Promise<OwnDelivery[]> {
  return db.rows<OwnDelivery>(sql`
    select head.id, head.organization_id, head.sandbox from (select ${endpointId}::text as endpoint_id) want
    cross join lateral (
      select q.delivery_id as id, q.organization_id, q.sandbox ${dueHead(outlet, now)} order by q.due_at limit ${most}) head`);
}

type DueEndpoint = {
  id: EndpointId;
  failing: boolean | null;
  enabled: boolean | null;
  /** When its first delivery came due. */
  dueAt: Date;
};

/** What is due, and when the next delivery comes due. */
export type DueLook = { endpoints: readonly DueEndpoint[]; nextDueAt: Date | null };

/**
 * The endpoints with a URL that have something due, found by jumping from queue to queue (a loose index
 * scan). The cost grows with the number of queues that are not empty, not with their length. `enabled` is
 * null if the endpoint no longer exists.
 */
export async function findAllDue(db: Queryable, now: Date): Promise<DueLook> {
  const waits = sql`${isFree(now)} and ${notInQuarantine(sql`q.delivery_id`, now)}`;
  const due = sql`
    with recursive queue as (
      (select q.endpoint_id, q.due_at from webhook_delivery_queue q where ${waits}
        order by q.endpoint_id, q.due_at limit 1)
      union all
      select head.endpoint_id, head.due_at from queue
      cross join lateral (
        select q.endpoint_id, q.due_at from webhook_delivery_queue q
        where q.endpoint_id > queue.endpoint_id and ${waits}
        order by q.endpoint_id, q.due_at limit 1) head)
    select queue.endpoint_id as id, e.failing_since is not null as failing, e.enabled, queue.due_at
    from queue left join webhook_endpoints e on e.id = queue.endpoint_id
    where queue.due_at <= ${now} and e.enabled is not false and e.kind is distinct from 'listener'`;
  const rows = await db.rows<DueEndpoint | { id: null; dueAt: Date | null }>(sql`
    (${due}) union all
    select null, null, null, min(due_at) from webhook_delivery_queue where due_at > ${now}`);
  return {
    endpoints: rows.filter((row) => row.id !== null),
    nextDueAt: rows.find((row) => row.id === null)?.dueAt ?? null,
  };
}

export async function findDueEndpoints(db: Queryable, now: Date): Promise<readonly DueEndpoint[]> {
  return (await findAllDue(db, now)).endpoints;
}

/** The listeners with these streams that have something due. There are few of them, so each queue is read. */
export function findDueListeners(
  db: Queryable,
  streamIds: readonly string[],
  now: Date,
): Promise<DueEndpoint[]> {
  return db.rows<DueEndpoint>(sql`
    select e.id, e.failing_since is not null as failing, e.enabled, head.due_at
    from webhook_endpoints e
    cross join lateral (
      select q.due_at from webhook_delivery_queue q
      where q.endpoint_id = e.id and q.due_at <= ${now} and ${isFree(now)} and ${notInQuarantine(sql`q.delivery_id`, now)}
      order by q.due_at limit 1) head
    where e.kind = 'listener' and e.listener_stream_id = any(${streamIds}::uuid[]) and e.enabled`);
}

/** How many deliveries of an endpoint are open, counted up to `most`. */
export async function countOpen(db: Queryable, endpointId: EndpointId, most: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) from (
      select from webhook_delivery_queue where endpoint_id = ${endpointId} limit ${most}) open`);
  return count;
}

/** A delivery that a listener was given and has not answered. */
type UnansweredDelivery = LeasedDelivery & { leaseOwner: string; leasedAt: Date };

/** The delivery, as long as it waits for the answer under this lease, in any process. */
export async function findUnanswered(
  tx: Tx,
  tenant: Tenant,
  endpointId: EndpointId,
  deliveryId: DeliveryId,
  leaseNumber: number,
): Promise<UnansweredDelivery | null> {
  const row = await tx.first<Stored<UnansweredDelivery>>(sql`
    select q.delivery_id as id, q.organization_id, q.sandbox, d.event_id, d.event_type, q.endpoint_id, d.payload, q.tries_used,
      q.lease_number, q.lease_owner, q.changed_at as leased_at,
      e.kind, e.url, e.signing_secret, null::bytea as previous_signing_secret, e.failing_since, e.undelivered_payload_retention_hours as retention_hours
    from webhook_delivery_queue q
    join webhook_deliveries d on d.id = q.delivery_id
    join webhook_endpoints e on e.id = q.endpoint_id and e.kind = 'listener'
    where q.organization_id = ${tenant.organizationId} and q.sandbox = ${isSandbox(tenant)} and q.delivery_id = ${deliveryId}
      and q.endpoint_id = ${endpointId}
      and q.lease_number = ${leaseNumber} and q.lease_owner is not null`);
  return row === null ? null : unpacked(row);
}

/** Releases a lease of this process. */
export function releaseLease(
  db: Queryable,
  owner: string,
  delivery: OwnDelivery & { leaseNumber: number },
  now: Date,
): Promise<number> {
  return db.run(sql`
    update webhook_delivery_queue set lease_owner = null, lease_until = null, changed_at = ${now}
    where organization_id = ${delivery.organizationId} and sandbox = ${delivery.sandbox} and delivery_id = ${delivery.id}
      and lease_number = ${delivery.leaseNumber} and lease_owner = ${owner}`);
}

/**
 * Releases all leases of this process when it stops; returns how many. Leased rows are at the heads of many
 * queues, so the whole table is read.
 */
export function releaseLeasesOf(db: Queryable, owner: string, now: Date): Promise<number> {
  return db.run(sql`
    update webhook_delivery_queue set lease_owner = null, lease_until = null, changed_at = ${now}
    where lease_owner = ${owner}`);
}

/** Ends deliveries whose payload was scrubbed while they were sent by a process that died. */
export function endScrubbed(db: Db, ids: readonly OwnDelivery[], now: Date): Promise<void> {
  return db.transaction(async (tx) => {
    await dequeue(tx, ids);
    await tx.run(sql`
      update webhook_deliveries set status = 'failed', failed = true, updated_at = ${now}
      where id = any(${ids.map(({ id }) => id)}::text[]) and status = 'pending' and payload is null`);
  });
}

async function dequeue(tx: Tx, deliveries: readonly OwnDelivery[]): Promise<void> {
  await tx.run(sql`
    delete from webhook_delivery_queue q
    using unnest(${deliveries.map((delivery) => delivery.organizationId)}::uuid[],
      ${deliveries.map(({ sandbox }) => sandbox)}::boolean[], ${deliveries.map(({ id }) => id)}::text[])
      as gone (organization_id, sandbox, id)
    where q.organization_id = gone.organization_id and q.sandbox = gone.sandbox and q.delivery_id = gone.id`);
}

/**
 * Removes quarantined deliveries that have since been attempted, have ended or were deleted; returns their
 * ids. The others wait for their time.
 */
export async function forgetAttempted(db: Queryable, now: Date): Promise<string[]> {
  const rows = await db.rows<{ rowId: string }>(sql`
    delete from set_aside_rows s
    where s.job = ${quarantinedAs.job} and s.kind = ${quarantinedAs.kind} and s.retry_at <= ${now} and not exists (
      select from webhook_deliveries d where d.id = s.row_id and d.status = 'pending'
        and (d.last_attempt_at is null or d.last_attempt_at < s.last_at))
    returning row_id`);
  return rows.map((row) => row.rowId);
}

export type RecordedAttempt = {
  delivery: OwnDelivery & Pick<LeasedDelivery, "leaseNumber">;
  attemptId: DeliveryAttemptId;
  result: Pick<AttemptResult, "statusCode" | "error">;
  durationMs: number;
  attemptedAt: Date;
  exchange: Exchange | null;
  next: NextState;
};

/**
 * Records results in one statement: new states, failed attempts, and the receiver's answer if the payload is
 * kept. Drops a result whose lease was lost. A payload that was scrubbed during the attempt cannot be
 * retried. Returns the written ids.
 */
export async function recordAttempts(
  db: Queryable,
  owner: string,
  attempts: readonly RecordedAttempt[],
  now: Date,
): Promise<DeliveryId[]> {
  const exchanges = attempts.flatMap(({ exchange, ...attempt }) =>
    exchange === null ? [] : [{ ...attempt, exchange }],
  );
  const deliveries = attempts.map(({ delivery }) => delivery);
  const ids = deliveries.map(({ id }) => id).sort();
  const rows = await db.rows<{ deliveryId: DeliveryId }>(sql`
    with result as materialized (
      select * from unnest(
        ${deliveries.map((delivery) => delivery.organizationId)}::uuid[],
        ${deliveries.map((delivery) => delivery.sandbox)}::boolean[],
        ${deliveries.map((delivery) => delivery.id)}::text[],
        ${deliveries.map((delivery) => delivery.leaseNumber)}::integer[],
        ${attempts.map((attempt) => attempt.attemptId)}::text[],
        ${attempts.map(({ result }) => result.statusCode)}::integer[],
        ${attempts.map(({ result }) => result.error)}::text[],
        ${attempts.map((attempt) => attempt.durationMs)}::integer[],
        ${attempts.map((attempt) => attempt.attemptedAt)}::timestamptz[],
        ${attempts.map(({ next }) => next.status)}::text[],
        ${attempts.map(({ next }) => next.nextAttemptAt)}::timestamptz[],
        ${attempts.map(({ next }) => next.scrub)}::boolean[],
        ${attempts.map(({ next }) => next.payloadExpiresAt)}::timestamptz[])
        as r (organization_id, sandbox, id, lease_number, attempt_id, status_code, error, duration_ms, attempted_at, status, next_attempt_at,
          scrub, payload_expires_at)),
    ended as (
      delete from webhook_delivery_queue q using result r
      where q.organization_id = r.organization_id and q.sandbox = r.sandbox and q.delivery_id = r.id
        and q.lease_owner = ${owner} and q.lease_number = r.lease_number and (r.status <> 'pending' or q.scrubbed)
      returning q.delivery_id),
    retried as (
      update webhook_delivery_queue q set due_at = r.next_attempt_at, tries_used = q.tries_used + 1, lease_owner = null,
        lease_until = null, changed_at = ${now}
      from result r
      where q.organization_id = r.organization_id and q.sandbox = r.sandbox and q.delivery_id = r.id
        and q.lease_owner = ${owner} and q.lease_number = r.lease_number and r.status = 'pending' and not q.scrubbed
      returning q.delivery_id),
    written as (
      update webhook_deliveries d set
        status = case when d.payload is null and r.status = 'pending' then 'failed' else r.status end,
        failed = r.status = 'failed' or (d.payload is null and r.status = 'pending'),
        attempt_count = d.attempt_count + 1,
        last_status_code = r.status_code,
        last_error = case when d.payload is null and r.status <> 'succeeded' then coalesce(d.last_error, r.error) else r.error end,
        last_attempt_at = r.attempted_at,
        arrival_ms = case when r.status = 'succeeded' then r.duration_ms end,
        payload = case when r.scrub then null else d.payload end,
        payload_expires_at = case when d.payload is null then d.payload_expires_at else r.payload_expires_at end,
        scrub_at = case when d.payload is null then null else r.payload_expires_at end,
        payload_scrubbed_at = case when r.scrub then coalesce(d.payload_scrubbed_at, ${now}) else d.payload_scrubbed_at end,
        updated_at = ${now}
      from result r
      where d.id = any(array(select delivery_id from ended union all select delivery_id from retried)) and d.id = r.id
        and d.id >= ${ids[0] ?? ""} and d.id <= ${ids.at(-1) ?? ""}
      returning d.id, d.payload is not null as is_kept)
    ${exchanges.length === 0 ? noSql : sql`, exchanged as (${insertExchanges(exchanges)})`},
    attempted as (
      insert into webhook_attempts (id, delivery_id, organization_id, status_code, error, duration_ms, attempted_at)
      select r.attempt_id, r.id, r.organization_id, r.status_code, r.error, r.duration_ms, r.attempted_at
      from result r join written on written.id = r.id where r.status <> 'succeeded')
    select id as delivery_id from written`);
  return rows.map((row) => row.deliveryId);
}

/** Of the written deliveries whose payload still exists. */
function insertExchanges(attempts: readonly (RecordedAttempt & { exchange: Exchange })[]): Sql {
  const exchanges = attempts.map(({ exchange }) => exchange);
  return sql`
    insert into webhook_exchanges (delivery_id, attempt_id, organization_id, signature, standard_signature, status_line, answer,
      answer_is_cut)
    select x.delivery_id, x.attempt_id, x.organization_id, x.signature, x.standard_signature, x.status_line, x.answer, x.is_cut
    from unnest(
      ${attempts.map(({ delivery }) => delivery.id)}::text[],
      ${attempts.map((attempt) => attempt.attemptId)}::text[],
      ${attempts.map(({ delivery }) => delivery.organizationId)}::uuid[],
      ${exchanges.map(({ own }) => own)}::text[],
      ${exchanges.map(({ standard }) => standard)}::text[],
      ${exchanges.map(({ answer }) => answer?.statusLine ?? null)}::text[],
      ${exchanges.map(({ answer }) => answer?.text ?? null)}::text[],
      ${exchanges.map(({ answer }) => answer?.isCut ?? false)}::boolean[])
      as x (delivery_id, attempt_id, organization_id, signature, standard_signature, status_line, answer, is_cut)
    join written on written.id = x.delivery_id and written.is_kept`;
}

// --- scrubbing and retention -------------------------------------------------------------------------------
//
// A change of a delivery that may be open first locks its row of the queue, as a claim and a result do.

/** Deliveries whose payload is past its retention. */
export function takeExpiredPayloads(db: Queryable, now: Date, among: Among): Promise<OwnDelivery[]> {
  return db.rows<OwnDelivery>(sql`
    select id, organization_id, sandbox from webhook_deliveries
    where scrub_at is not null and scrub_at <= ${now} and ${among.where(sql`id`, "text")}
    order by scrub_at limit ${among.limit} ${among.lock}`);
}

export async function scrubPayloadsOf(tx: Tx, ids: readonly DeliveryId[], now: Date): Promise<void> {
  await tx.run(sql`
    update webhook_deliveries set payload = null, scrub_at = null, payload_scrubbed_at = ${now}, updated_at = ${now}
    where id = any(${ids}::text[])`);
}

/** Ends the open deliveries of a deleted endpoint and scrubs all of its payloads. */
export async function endDeliveriesOf(tx: Tx, endpointIds: readonly EndpointId[], now: Date): Promise<void> {
  await tx.run(sql`delete from webhook_delivery_queue where endpoint_id = any(${endpointIds}::text[])`);
  await tx.run(sql`
    update webhook_deliveries set ${endpointDeleted(now)}
    where endpoint_id = any(${endpointIds}::text[]) and payload is not null`);
}

const endpointDeleted = (now: Date) => sql`
  payload = null, scrub_at = null, payload_scrubbed_at = ${now}, updated_at = ${now},
  last_error = case when status = 'failed' then last_error else 'endpoint_deleted' end,
  status = 'failed', failed = true`;

/** Deliveries in the queues of deleted endpoints. */
export function takeDeliveriesOf(
  db: Queryable,
  endpointIds: readonly EndpointId[],
  among: Among,
): Promise<OwnDelivery[]> {
  return db.rows<OwnDelivery>(sql`
    select delivery_id as id, organization_id, sandbox from webhook_delivery_queue
    where endpoint_id = any(${endpointIds}::text[]) and ${among.where(sql`delivery_id`, "text")}
    order by delivery_id limit ${among.limit} ${among.lock}`);
}

export async function endDeliveries(tx: Tx, deliveries: readonly OwnDelivery[], now: Date): Promise<void> {
  await dequeue(tx, deliveries);
  await tx.run(sql`
    update webhook_deliveries set ${endpointDeleted(now)}
    where id = any(${deliveries.map(({ id }) => id)}::text[]) and payload is not null`);
}

/**
 * Scrubs the payloads of a session's events that were not delivered. A delivery that is being sent keeps its
 * lease, so that its result is still recorded. Returns how many had succeeded.
 */
export async function scrubUndelivered(
  tx: Tx,
  tenant: Tenant,
  eventIds: readonly EventId[],
  now: Date,
): Promise<{ succeeded: number }> {
  const found: DeliveryId[] = [];
  for (const eventId of eventIds) {
    const page = deliveriesPage(tenant, { eventId }, null, now);
    found.push(...(await tx.rows<{ id: DeliveryId }>(page)).map((row) => row.id));
  }
  const open = await tx.rows<{ id: DeliveryId; isLeased: boolean }>(sql`
    select q.delivery_id as id, q.lease_until > ${now} is true as is_leased from webhook_delivery_queue q
    where ${ownedBy(tenant, sql`q.`)} and q.delivery_id = any(${found}::text[])
    order by q.delivery_id for update`);
  const rows = await tx.rows<{ status: DeliveryStatus }>(sql`
    select status from webhook_deliveries where id = any(${found}::text[]) order by id for update`);
  const leased = open.filter((row) => row.isLeased).map((row) => row.id);
  await tx.run(sql`
    delete from webhook_delivery_queue q where ${ownedBy(tenant, sql`q.`)}
      and q.delivery_id = any(${found}::text[]) and q.delivery_id <> all(${leased}::text[])`);
  await tx.run(sql`
    update webhook_delivery_queue q set scrubbed = true
    where ${ownedBy(tenant, sql`q.`)} and q.delivery_id = any(${leased}::text[])`);
  await tx.run(sql`
    update webhook_deliveries set payload = null, scrub_at = null, payload_scrubbed_at = ${now}, updated_at = ${now},
      last_error = 'consent_withdrawn',
      status = case when id = any(${leased}::text[]) then status else 'failed' end, failed = id <> all(${leased}::text[])
    where id = any(${found}::text[]) and payload is not null`);
  return { succeeded: rows.filter((row) => row.status === "succeeded").length };
}

/** Deliveries from before `cutoff` that are not being sent. */
export function takeOldDeliveries(
  db: Queryable,
  cutoff: Date,
  now: Date,
  among: Among,
): Promise<OwnDelivery[]> {
  return db.rows<OwnDelivery>(sql`
    select d.id, d.organization_id, d.sandbox from webhook_deliveries d
    where d.id < ${idFloor("whd", cutoff)} and ${among.where(sql`d.id`, "text")} and not exists (
      select from webhook_delivery_queue q
      where q.organization_id = d.organization_id and q.sandbox = d.sandbox and q.delivery_id = d.id and q.lease_until > ${now})
    order by d.id limit ${among.limit} ${among.lock}`);
}

export async function deleteDeliveriesWithAttempts(
  tx: Tx,
  deliveries: readonly OwnDelivery[],
): Promise<void> {
  const ids = deliveries.map(({ id }) => id);
  await dequeue(tx, deliveries);
  await tx.run(sql`delete from webhook_deliveries where id = any(${ids}::text[])`);
  await tx.run(sql`delete from webhook_attempts where delivery_id = any(${ids}::text[])`);
}

/** How many rows are past their retention, counted up to `most`. */
export async function countPastRetention(db: Queryable, cutoff: Date, most: number): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select (select count(*) from (select from webhook_deliveries where id < ${idFloor("whd", cutoff)} limit ${most}) d)
      + (select count(*) from (select from events where id < ${idFloor("evt", cutoff)} limit ${most}) e) as count`);
  return row.count;
}
