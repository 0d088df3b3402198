import type { Queryable } from "./db.ts";
import { sql } from "./sql.ts";

type Horizon = {
  holder: "session" | "prepared" | "slot" | "standby";
  /** Transactions since then; PostgreSQL keeps every row that they deleted. */
  transactions: number;
  /** Null if PostgreSQL does not report the time. */
  seconds: number | null;
};

/**
 * The age of the oldest snapshot in use (the xmin horizon), by its holder. Uses the clock of the server,
 * which also set the times. Sessions and standbys of other roles are visible only with `pg_read_all_stats`.
 */
export function findHorizons(db: Queryable): Promise<Horizon[]> {
  return db.rows<Horizon>(sql`
    select holder, coalesce(max(age(xmin)), 0)::int as transactions,
      extract(epoch from clock_timestamp() - min(since))::float8 as seconds
    from (
      select 'session' as holder, coalesce(backend_xmin, backend_xid) as xmin, xact_start as since from pg_stat_activity
        where datname = current_database() and backend_type not in ('walsender', 'autovacuum worker')
          and (backend_xmin is not null or backend_xid is not null) and pid <> pg_backend_pid()
      union all
      select 'prepared', transaction, prepared from pg_prepared_xacts where database = current_database()
      union all
      select 'slot', xmin, null from pg_replication_slots where xmin is not null
      union all
      select 'slot', catalog_xmin, null from pg_replication_slots where catalog_xmin is not null
      union all
      select 'standby', backend_xmin, null from pg_stat_replication where backend_xmin is not null
    ) as holders
    group by holder`);
}

export async function findSchemaName(db: Queryable): Promise<string | null> {
  const row = await db.first<{ name: string }>(
    sql`select name from schema_migrations order by name desc limit 1`,
  );
  return row?.name ?? null;
}
