import { type StatusClass, statusClasses } from "@assay/contract/api-log";
import type { ApiKeyId, ApiRequestId, OrganizationId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { newestOfEach, readPage } from "../../platform/db/page.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { noSql, type Sql, sql } from "../../platform/db/sql.ts";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { uuidFloor, uuidTime } from "../../platform/kernel/ids.ts";

export type LoggedRequest = {
  id: ApiRequestId;
  keyId: ApiKeyId;
  requestId: string;
  method: string;
  path: string;
  status: number;
  code: string | null;
  durationMs: number;
  isReplayed: boolean;
  /** The number of requests that this row represents. */
  requests: number;
  createdAt: Date;
};

/**
 * Writes the requests of existing keys. Their rows are locked against deletion, so that nothing is written
 * for an organization whose log is already deleted: keys are deleted first.
 */
export async function insertRequests(db: Queryable, rows: readonly LoggedRequest[]): Promise<void> {
  await db.run(sql`
    with owners as (
      select id, organization_id, sandbox from api_keys
      where id = any(${[...new Set(rows.map(({ keyId }) => keyId))]}::uuid[]) order by id for key share)
    insert into api_requests (id, organization_id, api_key_id, created_at, duration_ms, requests, status, sandbox, replayed,
      method, error_code, request_id, path)
    select r.id, o.organization_id, o.id, r.created_at, r.duration_ms, r.requests, r.status, o.sandbox, r.replayed,
      r.method, r.error_code, r.request_id, r.path
    from unnest(
      ${rows.map(({ id }) => id)}::uuid[],
      ${rows.map(({ keyId }) => keyId)}::uuid[],
      ${rows.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
      ${rows.map(({ durationMs }) => durationMs)}::integer[],
      ${rows.map(({ requests }) => requests)}::integer[],
      ${rows.map(({ status }) => status)}::smallint[],
      ${rows.map(({ isReplayed }) => isReplayed)}::boolean[],
      ${rows.map(({ method }) => method)}::text[],
      ${rows.map(({ code }) => code)}::text[],
      ${rows.map(({ requestId }) => requestId)}::text[],
      ${rows.map(({ path }) => path)}::text[])
      as r (id, key_id, created_at, duration_ms, requests, status, replayed, method, error_code, request_id, path)
    join owners o on o.id = r.key_id`);
}

export type ApiRequestRow = {
  id: ApiRequestId;
  apiKeyId: ApiKeyId;
  keyName: string | null;
  requestId: string;
  method: string;
  path: string;
  status: number;
  errorCode: string | null;
  durationMs: number;
  replayed: boolean;
  requests: number;
  createdAt: Date;
};

type RequestFilter = {
  keyId?: ApiKeyId | undefined;
  statusClass?: StatusClass | undefined;
  requestId?: string | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
  startingAfter?: ApiRequestId | undefined;
};

export function listRequests(db: Queryable, tenant: Tenant, filter: RequestFilter & { limit: number }) {
  return readPage<ApiRequestRow>(db, {
    limit: filter.limit,
    startingAfter: filter.startingAfter,
    cursorExists: (id) => sql`select 1 from api_requests where ${ownedBy(tenant)} and id = ${id}`,
    rowsAfter: (limit) => requestPage(tenant, filter, limit),
  });
}

const columns = sql`r.id, r.api_key_id, r.request_id, r.method, r.path, r.status, r.error_code, r.duration_ms, r.replayed, r.requests,
  r.created_at`;

/**
 * Every list is read in the order of an index without skipping rows: by owner and class, or by the id of a
 * request.
 */
export function requestPage(tenant: Tenant, filter: RequestFilter, limit: number): Sql {
  const { keyId, statusClass, requestId, createdFrom, createdTo, startingAfter } = filter;
  const classes = (statusClass === undefined ? statusClasses : [statusClass]).map((each) => Number(each[0]));
  const ofKey =
    keyId === undefined
      ? null
      : sql`r.api_key_id = (select id from api_keys where ${ownedBy(tenant)} and id = ${keyId})`;
  const within = sql`
    ${createdFrom === undefined ? noSql : sql`and r.created_at >= ${createdFrom}`}
    ${createdTo === undefined ? noSql : sql`and r.created_at <= ${createdTo}`}
    ${startingAfter === undefined ? noSql : sql`and (r.created_at, r.id) < (${uuidTime(startingAfter)}, ${startingAfter})`}
    order by r.created_at desc, r.id desc limit ${limit}`;
  const page =
    requestId === undefined
      ? newestOfEach(
          sql`of_class`,
          classes.map((each) => sql`${each}::integer`),
          sql`select ${columns} from api_requests r
            where ${ofKey ?? ownedBy(tenant, sql`r.`)} and r.status / 100 = each.of_class ${within}`,
          sql`id`,
          limit,
        )
      : sql`select ${columns} from api_requests r
          where ${ownedBy(tenant, sql`r.`)} and r.request_id = ${requestId}
            and r.status / 100 = any(${classes}::integer[]) ${ofKey === null ? noSql : sql`and ${ofKey}`} ${within}`;
  return sql`select page.*, k.name as key_name from (${page}) page
    left join api_keys k on k.id = page.api_key_id order by page.id desc`;
}

export function oldApiRequests(writtenBefore: Date): Expired {
  return {
    table: "api_requests",
    key: "id",
    type: "uuid",
    owned: true,
    due: sql`id < ${uuidFloor(writtenBefore)}`,
  };
}

/** Written exactly as in the index, because a parameter would not match it. */
export const isBeyondRate = sql`error_code = 'REQUEST_RATE_EXCEEDED'`;

export function countRefused(
  db: Queryable,
  organizationId: OrganizationId,
  since: { hour: Date; day: Date },
): Promise<{ lastHour: number; lastDay: number }> {
  return db.one<{ lastHour: number; lastDay: number }>(sql`
    select coalesce(sum(requests), 0)::bigint as last_day,
      coalesce(sum(requests) filter (where created_at > ${since.hour}), 0)::bigint as last_hour
    from api_requests where organization_id = ${organizationId} and ${isBeyondRate} and created_at > ${since.day}`);
}
