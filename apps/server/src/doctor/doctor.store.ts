import type { Queryable } from "../db/db.ts";
import { sql } from "../db/sql.ts";

export type DatabaseFacts = {
  version: string;
  /** The database's own clock. */
  now: Date;
  standby: boolean;
  read_only: boolean;
  /** Null before the first migration. */
  migrations: string | null;
};

export function readDatabaseFacts(db: Queryable): Promise<DatabaseFacts> {
  return db.one<DatabaseFacts>(sql`
    select current_setting('server_version') as version, clock_timestamp() as now, pg_is_in_recovery() as standby,
      current_setting('transaction_read_only')::boolean as read_only, to_regclass('schema_migrations')::text as migrations`);
}

/** By way of JSON, because a database from before migration 0083 has no such column. */
export function listAppliedMigrations(
  db: Queryable,
): Promise<{ name: string; checksum: string; leastCode: number | null }[]> {
  return db.rows(
    sql`select name, checksum, (to_jsonb(m) ->> 'least_code')::integer as "leastCode" from schema_migrations m`,
  );
}
