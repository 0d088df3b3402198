import type { EventType } from "@assay/contract/events";
import type {
  DeliveryAttemptId,
  DeliveryId,
  EncryptionKeyId,
  EndpointId,
  EventId,
  OrganizationId,
  SessionId,
} from "@assay/contract/ids";
import { type DeliveryError, type DeliveryStatus, deliveryStatuses } from "@assay/contract/webhooks";
import type { Db, Queryable, Tx } from "../db/db.ts";
import { newestOf, readPage } from "../db/page.ts";
import { notAside } from "../db/set-aside.store.ts";
import type { Among } from "../db/set-aside.ts";
import { noSql, type Sql, sql } from "../db/sql.ts";
import { later } from "../kernel/clock.ts";
import { idFloor } from "../kernel/ids.ts";

/**
 * NOTIFY channel: deliveries are due. Payload: endpoint ids separated by commas, or empty for "look at all queues".
 */
export const deliveryChannel = "assay_deliveries";

export type DeliveryRow = {
  id: DeliveryId;
  event_id: EventId;
  event_type: EventType;
  endpoint_id: EndpointId;
  encryption_key_id: EncryptionKeyId | null;
  status: DeliveryStatus;
  attempt_count: number;
  next_attempt_at: Date | null;
  last_status_code: number | null;
  last_error: DeliveryError | null;
  last_attempt_at: Date | null;
  payload_expires_at: Date | null;
  payload_scrubbed_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

const columns = sql`id, event_id, event_type, endpoint_id, encryption_key_id, status, attempt_count, next_attempt_at,
  last_status_code, last_error, last_attempt_at, payload_expires_at, payload_scrubbed_at, created_at, updated_at`;

/** The id as the key of the index that a list is to be read from; the migration of the sessions says why it is not the plain id. */
const idBy = {
  organization: sql`id collate by_organization`,
  status: sql`id collate by_status`,
  endpoint: sql`id collate by_endpoint`,
  event: sql`id collate by_event`,
};

export type NewDelivery = {
  id: DeliveryId;
  organizationId: OrganizationId;
  eventId: EventId;
  eventType: EventType;
  endpointId: EndpointId;
  /** Null when the endpoint has no active key: the delivery has failed before it began. */
  sealed: { encryptionKeyId: EncryptionKeyId; payload: string } | null;
};

export async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[], now: Date): Promise<void> {
  await tx.run(sql`
    insert into webhook_deliveries (id, organization_id, event_id, event_type, endpoint_id, encryption_key_id, payload,
      status, next_attempt_at, last_error, attempt_count, tries_used, lease_number, created_at, updated_at)
    select id, organization_id, event_id, event_type, endpoint_id, encryption_key_id, payload,
      case when payload is null then 'failed' else 'pending' end,
      case when payload is null then null else ${now}::timestamptz end,
      case when payload is null then 'no_active_key' end,
      0, 0, 0, ${now}::timestamptz, ${now}::timestamptz
    from unnest(
      ${deliveries.map((delivery) => delivery.id)}::text[],
      ${deliveries.map((delivery) => delivery.organizationId)}::uuid[],
      ${deliveries.map((delivery) => delivery.eventId)}::text[],
      ${deliveries.map((delivery) => delivery.eventType)}::text[],
      ${deliveries.map((delivery) => delivery.endpointId)}::text[],
      ${deliveries.map((delivery) => delivery.sealed?.encryptionKeyId ?? null)}::text[],
      ${deliveries.map((delivery) => delivery.sealed?.payload ?? null)}::text[])
      as d (id, organization_id, event_id, event_type, endpoint_id, encryption_key_id, payload)`);
}

/** Wakes the workers of every process when the transaction commits. */
export async function announceDeliveries(tx: Tx, endpointIds: Iterable<EndpointId>): Promise<void> {
  const ids = [...new Set(endpointIds)];
  if (ids.length === 0) return;
  // A notification carries less than 8000 bytes. With more endpoints than fit, the payload is empty and workers look
  // at all queues.
  await tx.notify(deliveryChannel, ids.length <= 200 ? ids.join(",") : "");
}

export function findDelivery(
  db: Queryable,
  organizationId: OrganizationId,
  id: DeliveryId,
): Promise<DeliveryRow | null> {
  return db.first<DeliveryRow>(
    sql`select ${columns} from webhook_deliveries where organization_id = ${organizationId} and id = ${id}`,
  );
}

export function deliveriesOfEvent(
  db: Queryable,
  organizationId: OrganizationId,
  eventId: EventId,
): Promise<DeliveryRow[]> {
  return db.rows<DeliveryRow>(sql`
    select ${columns} from webhook_deliveries
    where organization_id = ${organizationId} and event_id = ${eventId} order by ${idBy.event} desc`);
}

export type AttemptRow = {
  id: DeliveryAttemptId;
  status_code: number | null;
  error: DeliveryError | null;
  duration_ms: number;
  attempted_at: Date;
};

export function attemptsOf(
  db: Queryable,
  organizationId: OrganizationId,
  deliveryId: DeliveryId,
): Promise<AttemptRow[]> {
  return db.rows<AttemptRow>(sql`
    select id, status_code, error, duration_ms, attempted_at from webhook_attempts
    where delivery_id = ${deliveryId} and organization_id = ${organizationId} order by id desc`);
}

export type DeliveryFilter = {
  status?: DeliveryStatus | undefined;
  endpointId?: EndpointId | undefined;
  eventId?: EventId | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
  startingAfter?: DeliveryId | undefined;
};

export function listDeliveries(
  db: Queryable,
  organizationId: OrganizationId,
  filter: DeliveryFilter & { limit: number },
) {
  return readPage<DeliveryRow>(db, {
    limit: filter.limit,
    startingAfter: filter.startingAfter,
    cursorExists: (id) =>
      sql`select 1 from webhook_deliveries where organization_id = ${organizationId} and id = ${id}`,
    rowsAfter: (limit) => deliveriesPage(organizationId, filter, limit),
  });
}

export function deliveriesPage(organizationId: OrganizationId, filter: DeliveryFilter, limit: number): Sql {
  const { status, endpointId, eventId, createdFrom, createdTo, startingAfter } = filter;
  const key =
    eventId !== undefined
      ? idBy.event
      : endpointId !== undefined
        ? idBy.endpoint
        : status !== undefined
          ? idBy.status
          : idBy.organization;
  // The status comes from a subquery because the indexes of the queue are for one status each: a planner that knew the status
  // might read and sort a whole queue.
  const range = (of: DeliveryStatus | undefined) => sql`
    select ${columns} from webhook_deliveries
    where organization_id = ${organizationId}
      ${of === undefined ? noSql : sql`and status = (select ${of}::text)`}
      ${endpointId === undefined ? noSql : sql`and endpoint_id = ${endpointId}`}
      ${eventId === undefined ? noSql : sql`and event_id = ${eventId}`}
      ${createdFrom === undefined ? noSql : sql`and ${key} >= ${idFloor("whd", createdFrom)}`}
      ${createdTo === undefined ? noSql : sql`and ${key} < ${idFloor("whd", later(createdTo, 1))}`}
      ${startingAfter === undefined ? noSql : sql`and ${key} < ${startingAfter}`}
    order by ${key} desc limit ${limit}`;
  return key === idBy.endpoint && status === undefined
    ? newestOf(deliveryStatuses.map(range), key, limit)
    : range(status);
}

/**
 * Starts the schedule of tries again for those of the deliveries that nobody is sending and whose payload is still
 * there. Returns them as they are now.
 */
export function restartDeliveries(
  tx: Tx,
  organizationId: OrganizationId,
  ids: readonly DeliveryId[],
  now: Date,
): Promise<DeliveryRow[]> {
  return tx.rows<DeliveryRow>(sql`
    update webhook_deliveries set status = 'pending', tries_used = 0, next_attempt_at = ${now}, payload_expires_at = null,
      updated_at = ${now}
    where organization_id = ${organizationId} and id = any(${ids}::text[]) and status in ('pending', 'failed')
      and payload is not null and (payload_expires_at is null or payload_expires_at > ${now})
    returning ${columns}`);
}

// --- the queue ---------------------------------------------------------------------------------------------------------

/** The job that sends, and the table, as rows are set aside under. */
export const setAsideAs = { job: "deliver-webhooks", kind: "webhook_deliveries" };

const notSetAside = (id: Sql, now: Date) => notAside(setAsideAs.job, setAsideAs.kind, id, "text", now);

/** A delivery and whose it is. */
export type OwnDelivery = { id: DeliveryId; organization_id: OrganizationId };

export type LeasedDelivery = {
  id: DeliveryId;
  organization_id: OrganizationId;
  event_id: EventId;
  event_type: EventType;
  endpoint_id: EndpointId;
  payload: string;
  tries_used: number;
  lease_number: number;
  url: string;
  signing_secret: Buffer;
  failing_since: Date | null;
  retention_hours: number;
};

export type Wanted = { endpointId: EndpointId; most: number };

/** The heads of the queues that `want` names, as far as they are due and not set aside. */
const dueHead = (now: Date) => sql`
  from webhook_deliveries d
  where d.endpoint_id = want.endpoint_id and d.status = 'pending' and d.next_attempt_at <= ${now}
    and exists (select from webhook_endpoints e where e.id = want.endpoint_id and e.enabled)
    and ${notSetAside(sql`d.id`, now)}`;

/**
 * Claims due deliveries of the given endpoints under a lease, at most the given number for each. Reads only the heads
 * of those queues, so the cost does not depend on how much else is waiting. Rows that another process is claiming are
 * skipped. `only` names the deliveries that may be claimed.
 */
export function claimDue(
  db: Db,
  wanted: readonly Wanted[],
  lease: { owner: string; now: Date; until: Date },
  only: readonly DeliveryId[] | null = null,
): Promise<LeasedDelivery[]> {
  return db.rows<LeasedDelivery>(sql`
    with due as materialized (
      select head.id
      from unnest(${wanted.map((want) => want.endpointId)}::text[], ${wanted.map((want) => want.most)}::integer[])
        as want (endpoint_id, most)
      cross join lateral (
        select d.id ${dueHead(lease.now)} ${only === null ? noSql : sql`and d.id = any(${only}::text[])`}
        order by d.next_attempt_at limit want.most for update of d skip locked) head)
    update webhook_deliveries d set status = 'delivering', lease_owner = ${lease.owner}, lease_number = d.lease_number + 1,
      lease_until = ${lease.until}, next_attempt_at = null, updated_at = ${lease.now}
    from webhook_endpoints e
    where d.id = any(array(select id from due)) and e.id = d.endpoint_id
    returning d.id, d.organization_id, d.event_id, d.event_type, d.endpoint_id, d.payload, d.tries_used, d.lease_number,
      e.url, e.signing_secret, e.failing_since, e.undelivered_payload_retention_hours as retention_hours`);
}

/** What `claimDue` would claim for one endpoint, without claiming it. */
export function listDue(db: Queryable, { endpointId, most }: Wanted, now: Date): Promise<OwnDelivery[]> {
  return db.rows<OwnDelivery>(sql`
    select head.id, head.organization_id from (select ${endpointId}::text as endpoint_id) want
    cross join lateral (
      select d.id, d.organization_id ${dueHead(now)} order by d.next_attempt_at limit ${most}) head`);
}

export type DueEndpoint = {
  id: EndpointId;
  failing: boolean | null;
  enabled: boolean | null;
  /** When its first delivery came due. */
  due_at: Date;
};

/**
 * The endpoints in whose queues something is due, found by jumping from queue to queue (a loose index scan): the cost
 * grows with the number of queues that are not empty, not with their length. `enabled` is null for an endpoint that
 * no longer exists.
 */
export function findDueEndpoints(db: Queryable, now: Date): Promise<DueEndpoint[]> {
  return db.rows<DueEndpoint>(sql`
    with recursive queue as (
      (select d.endpoint_id, d.next_attempt_at from webhook_deliveries d
        where d.status = 'pending' and ${notSetAside(sql`d.id`, now)}
        order by d.endpoint_id, d.next_attempt_at limit 1)
      union all
      select head.endpoint_id, head.next_attempt_at from queue
      cross join lateral (
        select d.endpoint_id, d.next_attempt_at from webhook_deliveries d
        where d.status = 'pending' and d.endpoint_id > queue.endpoint_id and ${notSetAside(sql`d.id`, now)}
        order by d.endpoint_id, d.next_attempt_at limit 1) head)
    select queue.endpoint_id as id, e.failing_since is not null as failing, e.enabled, queue.next_attempt_at as due_at
    from queue left join webhook_endpoints e on e.id = queue.endpoint_id
    where queue.next_attempt_at <= ${now} and e.enabled is not false`);
}

/**
 * The endpoints for which something came due between two moments. The cost grows with what came due, not with the
 * number of queues.
 */
export function findNewlyDueEndpoints(db: Queryable, after: Date, now: Date): Promise<DueEndpoint[]> {
  return db.rows<DueEndpoint>(sql`
    select e.id, e.failing_since is not null as failing, e.enabled, due.due_at
    from (
      select endpoint_id, min(next_attempt_at) as due_at from webhook_deliveries
      where status = 'pending' and next_attempt_at > ${after} and next_attempt_at <= ${now}
      group by endpoint_id) due
    join webhook_endpoints e on e.id = due.endpoint_id and e.enabled`);
}

/** A delivery that nobody is sending any more. It has used no try, because nobody knows how the attempt ended. */
const released = (now: Date) => sql`
  lease_owner = null, lease_until = null, updated_at = ${now},
  status = case when payload is null then 'failed' else 'pending' end,
  next_attempt_at = case when payload is null then null else ${now}::timestamptz end`;

/** Releases the expired leases of dead processes; returns how many. */
export function releaseExpiredLeases(db: Queryable, now: Date, limit: number): Promise<number> {
  return db.run(sql`
    update webhook_deliveries set ${released(now)}
    where id = any(array(
      select id from webhook_deliveries d where status = 'delivering' and lease_until <= ${now}
        and ${notSetAside(sql`d.id`, now)}
      order by lease_until limit ${limit} for update of d skip locked))`);
}

/** The same in two steps, for when one of them cannot be released. */
export function takeExpiredLeases(tx: Tx, now: Date, among: Among): Promise<OwnDelivery[]> {
  return tx.rows<OwnDelivery>(sql`
    select id, organization_id from webhook_deliveries d
    where status = 'delivering' and d.lease_until <= ${now} and ${among.where(sql`d.id`, "text")}
    order by lease_until limit ${among.limit} for update of d skip locked`);
}

export async function releaseLeases(tx: Tx, ids: readonly DeliveryId[], now: Date): Promise<void> {
  await tx.run(sql`update webhook_deliveries set ${released(now)} where id = any(${ids}::text[])`);
}

/** Releases a lease of this process. */
export function releaseLease(
  db: Queryable,
  owner: string,
  delivery: { id: DeliveryId; lease_number: number },
  now: Date,
): Promise<number> {
  return db.run(sql`
    update webhook_deliveries set ${released(now)}
    where id = ${delivery.id} and status = 'delivering' and lease_number = ${delivery.lease_number}
      and lease_owner = ${owner}`);
}

/** Releases all leases of this process, when it ends. */
export function releaseLeasesOf(db: Queryable, owner: string, now: Date): Promise<number> {
  return db.run(sql`
    update webhook_deliveries set ${released(now)}
    where status = 'delivering' and lease_owner = ${owner}`);
}

/**
 * Forgets that deliveries were set aside which have been attempted since, have ended or are gone; returns their ids. What
 * is still set aside waits for its time.
 */
export async function forgetAttempted(db: Queryable, now: Date): Promise<string[]> {
  const rows = await db.rows<{ row_id: string }>(sql`
    delete from set_aside_rows s
    where s.job = ${setAsideAs.job} and s.kind = ${setAsideAs.kind} and s.retry_at <= ${now} and not exists (
      select from webhook_deliveries d where d.id = s.row_id and d.status in ('pending', 'delivering')
        and (d.last_attempt_at is null or d.last_attempt_at < s.last_at))
    returning row_id`);
  return rows.map((row) => row.row_id);
}

export type RecordedAttempt = {
  deliveryId: DeliveryId;
  leaseNumber: number;
  attemptId: DeliveryAttemptId;
  statusCode: number | null;
  error: DeliveryError | null;
  durationMs: number;
  attemptedAt: Date;
  status: "succeeded" | "pending" | "failed";
  nextAttemptAt: Date | null;
  scrub: boolean;
  payloadExpiresAt: Date | null;
};

/**
 * Records the results of attempts: the attempt rows and the new state of the deliveries, in one statement. A result
 * whose lease was lost in the meantime (owner or fencing number differ) is dropped. A delivery whose payload was
 * scrubbed while it was being sent cannot be retried. Returns the ids that were written.
 */
export async function recordAttempts(
  db: Queryable,
  owner: string,
  attempts: readonly RecordedAttempt[],
  now: Date,
): Promise<DeliveryId[]> {
  const rows = await db.rows<{ delivery_id: DeliveryId }>(sql`
    with result as (
      select * from unnest(
        ${attempts.map((attempt) => attempt.deliveryId)}::text[],
        ${attempts.map((attempt) => attempt.leaseNumber)}::integer[],
        ${attempts.map((attempt) => attempt.attemptId)}::text[],
        ${attempts.map((attempt) => attempt.statusCode)}::integer[],
        ${attempts.map((attempt) => attempt.error)}::text[],
        ${attempts.map((attempt) => attempt.durationMs)}::integer[],
        ${attempts.map((attempt) => attempt.attemptedAt)}::timestamptz[],
        ${attempts.map((attempt) => attempt.status)}::text[],
        ${attempts.map((attempt) => attempt.nextAttemptAt)}::timestamptz[],
        ${attempts.map((attempt) => attempt.scrub)}::boolean[],
        ${attempts.map((attempt) => attempt.payloadExpiresAt)}::timestamptz[])
        as r (id, lease_number, attempt_id, status_code, error, duration_ms, attempted_at, status, next_attempt_at, scrub,
          payload_expires_at)),
    written as (
      update webhook_deliveries d set
        status = case when d.payload is null and r.status = 'pending' then 'failed' else r.status end,
        next_attempt_at = case when d.payload is null then null else r.next_attempt_at end,
        attempt_count = d.attempt_count + 1,
        tries_used = d.tries_used + 1,
        last_status_code = r.status_code,
        last_error = case when d.payload is null and r.status <> 'succeeded' then coalesce(d.last_error, r.error) else r.error end,
        last_attempt_at = r.attempted_at,
        payload = case when r.scrub then null else d.payload end,
        payload_expires_at = case when d.payload is null then d.payload_expires_at else r.payload_expires_at end,
        payload_scrubbed_at = case when r.scrub then coalesce(d.payload_scrubbed_at, ${now}) else d.payload_scrubbed_at end,
        lease_owner = null, lease_until = null, updated_at = ${now}
      from result r
      where d.id = any(${attempts.map((attempt) => attempt.deliveryId)}::text[]) and d.id = r.id
        and d.status = 'delivering' and d.lease_owner = ${owner} and d.lease_number = r.lease_number
      returning d.id, d.organization_id)
    insert into webhook_attempts (id, delivery_id, organization_id, status_code, error, duration_ms, attempted_at)
    select r.attempt_id, r.id, written.organization_id, r.status_code, r.error, r.duration_ms, r.attempted_at
    from result r join written on written.id = r.id
    returning delivery_id`);
  return rows.map((row) => row.delivery_id);
}

// --- scrubbing and retention -------------------------------------------------------------------------------------------

/** Deliveries whose payload is past its time. */
export function takeExpiredPayloads(tx: Tx, now: Date, among: Among): Promise<OwnDelivery[]> {
  return tx.rows<OwnDelivery>(sql`
    select id, organization_id from webhook_deliveries
    where payload is not null and payload_expires_at is not null and payload_expires_at <= ${now}
      and ${among.where(sql`id`, "text")}
    order by payload_expires_at limit ${among.limit} for update skip locked`);
}

export async function scrubPayloadsOf(tx: Tx, ids: readonly DeliveryId[], now: Date): Promise<void> {
  await tx.run(sql`
    update webhook_deliveries set payload = null, payload_scrubbed_at = ${now}, updated_at = ${now}
    where id = any(${ids}::text[])`);
}

/** Ends the pending deliveries of a deleted endpoint and scrubs all of its payloads. */
export function endDeliveriesOf(
  tx: Queryable,
  endpointIds: readonly EndpointId[],
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update webhook_deliveries set ${endpointDeleted(now)}
    where endpoint_id = any(${endpointIds}::text[]) and payload is not null`);
}

const endpointDeleted = (now: Date) => sql`
  payload = null, payload_scrubbed_at = ${now}, updated_at = ${now},
  next_attempt_at = null, lease_owner = null, lease_until = null,
  last_error = case when status = 'failed' then last_error else 'endpoint_deleted' end,
  status = 'failed'`;

/** Deliveries of endpoints that are gone. */
export function takeDeliveriesOf(
  tx: Tx,
  endpointIds: readonly EndpointId[],
  among: Among,
): Promise<OwnDelivery[]> {
  return tx.rows<OwnDelivery>(sql`
    select id, organization_id from webhook_deliveries
    where endpoint_id = any(${endpointIds}::text[]) and payload is not null and ${among.where(sql`id`, "text")}
    order by id limit ${among.limit} for update skip locked`);
}

export async function endDeliveries(tx: Tx, ids: readonly DeliveryId[], now: Date): Promise<void> {
  await tx.run(sql`
    update webhook_deliveries set ${endpointDeleted(now)} where id = any(${ids}::text[]) and payload is not null`);
}

/**
 * Scrubs the payloads of a session's events that were not delivered. A delivery that is being sent keeps its lease,
 * so that its result is still recorded. Returns how many deliveries had succeeded.
 */
export async function scrubUndelivered(
  tx: Tx,
  organizationId: OrganizationId,
  sessionId: SessionId,
  now: Date,
): Promise<{ succeeded: number }> {
  const rows = await tx.rows<{ id: DeliveryId; status: DeliveryStatus }>(sql`
    select d.id, d.status from webhook_deliveries d join events e on e.id = d.event_id
    where e.session_id = ${sessionId} and e.organization_id = ${organizationId}
    order by d.id for update of d`);
  await tx.run(sql`
    update webhook_deliveries set payload = null, payload_scrubbed_at = ${now}, updated_at = ${now},
      next_attempt_at = null, last_error = 'consent_withdrawn',
      status = case when status = 'delivering' then status else 'failed' end
    where id = any(${rows.map((row) => row.id)}::text[]) and payload is not null`);
  return { succeeded: rows.filter((row) => row.status === "succeeded").length };
}

/** Deliveries from before `cutoff` that nobody is sending. */
export function takeOldDeliveries(tx: Tx, cutoff: Date, among: Among): Promise<OwnDelivery[]> {
  return tx.rows<OwnDelivery>(sql`
    select id, organization_id from webhook_deliveries
    where id < ${idFloor("whd", cutoff)} and status <> 'delivering' and ${among.where(sql`id`, "text")}
    order by id limit ${among.limit} for update skip locked`);
}

export async function deleteDeliveriesWithAttempts(tx: Tx, ids: readonly DeliveryId[]): Promise<void> {
  await tx.run(sql`delete from webhook_deliveries where id = any(${ids}::text[])`);
  await tx.run(sql`delete from webhook_attempts where delivery_id = any(${ids}::text[])`);
}

/** How many rows are past their time, counted up to `most`. */
export async function countPastRetention(db: Queryable, cutoff: Date, most: number): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select (select count(*) from (select from webhook_deliveries where id < ${idFloor("whd", cutoff)} limit ${most}) d)
      + (select count(*) from (select from events where id < ${idFloor("evt", cutoff)} limit ${most}) e) as count`);
  return row.count;
}
