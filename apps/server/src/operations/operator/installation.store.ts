import type { Environment } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { appliedMigrations } from "../../platform/db/migrate.ts";
import { readPage } from "../../platform/db/page.ts";
import { noSql, sql } from "../../platform/db/sql.ts";
import { isBeyondRate } from "../../tenants/api-keys/api-request.store.ts";

type DatabaseFacts = {
  version: string;
  /** The clock of the database. */
  now: Date;
  takesWrites: boolean;
  /** False before the first migration. */
  hasSchema: boolean;
};

export function readDatabaseFacts(db: Queryable): Promise<DatabaseFacts> {
  return db.one<DatabaseFacts>(sql`
    select current_setting('server_version') as version, clock_timestamp() as now,
      not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as takes_writes,
      to_regclass('schema_migrations') is not null as has_schema`);
}

/** In the order of their names. */
export function listAppliedMigrations(
  db: Queryable,
): Promise<{ name: string; checksum: string; minCode: number | null }[]> {
  return db.rows(sql`${appliedMigrations} order by name`);
}

/** Number of mails that are not sent yet, including quarantined ones, counted up to `most`. */
export async function countMails(db: Queryable, most: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from (select from mails limit ${most}) waiting`,
  );
  return count;
}

export type OrganizationSizeRow = {
  id: OrganizationId;
  name: string;
  slug: string;
  environment: Environment;
  pendingDeletionAt: Date | null;
  createdAt: Date;
  members: number;
  liveKeys: number;
  sandboxKeys: number;
  liveEndpoints: number;
  sandboxEndpoints: number;
  liveSessions: number;
  sandboxSessions: number;
  refusedRequests: number;
};

/**
 * One page of all organizations. The limits of an organization bound the counts of members, keys and
 * endpoints. Sessions are counted by day, from a few rows of figures each.
 */
export function listOrganizationSizes(
  db: Queryable,
  page: { limit: number; startingAfter: OrganizationId | undefined; firstDay: string; refusedSince: Date },
) {
  const { limit, startingAfter, firstDay, refusedSince } = page;
  return readPage<OrganizationSizeRow>(db, {
    limit,
    startingAfter,
    cursorExists: (id) => sql`select 1 from organizations where id = ${id}`,
    rowsAfter: (count) => sql`
      select o.id, o.name, o.slug, o.environment, o.pending_deletion_at, o.created_at,
        (select count(*) from memberships m where m.organization_id = o.id) as members,
        k.live as live_keys, k.sandbox as sandbox_keys, e.live as live_endpoints, e.sandbox as sandbox_endpoints,
        s.live as live_sessions, s.sandbox as sandbox_sessions,
        (select coalesce(sum(requests), 0)::bigint from api_requests
          where organization_id = o.id and ${isBeyondRate} and created_at > ${refusedSince}) as refused_requests
      from (
        select id, name, slug, environment, pending_deletion_at, created_at from organizations
        ${startingAfter === undefined ? noSql : sql`where id < ${startingAfter}`} order by id desc limit ${count}) o
      cross join lateral (
        select count(*) filter (where not sandbox) as live, count(*) filter (where sandbox) as sandbox
        from api_keys where organization_id = o.id) k
      cross join lateral (
        select count(*) filter (where not sandbox) as live, count(*) filter (where sandbox) as sandbox
        from webhook_endpoints where organization_id = o.id and kind = 'url') e
      cross join lateral (
        select coalesce(sum(succeeded + failed + expired + cancelled) filter (where not sandbox), 0)::bigint as live,
          coalesce(sum(succeeded + failed + expired + cancelled) filter (where sandbox), 0)::bigint as sandbox
        from session_days where organization_id = o.id and day >= ${firstDay}::date) s
      order by o.id desc`,
  });
}
