import type { Db } from "../../platform/db/db.ts";
import { Sql, sql } from "../../platform/db/sql.ts";

/** Reads every row of every table, to find damaged pages. Returns the number of rows in each table. */
export async function countAllRows(db: Db): Promise<Map<string, number>> {
  const tables = await db.rows<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  );
  const counts = new Map<string, number>();
  for (const table of tables) {
    // Counts whole rows: a plain count may read only an index.
    const { rows } = await db.one<{ rows: number }>(
      sql`select count(one) as rows from ${new Sql([table.name], [])} as one`,
    );
    counts.set(table.name, rows);
  }
  return counts;
}

export async function newestEntryAt(db: Db): Promise<Date | null> {
  const row = await db.first<{ at: Date }>(
    sql`select created_at as at from audit_logs order by created_at desc limit 1`,
  );
  return row?.at ?? null;
}
