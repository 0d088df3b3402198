import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

/**
 * Drops a check that an unfinished division by the previous release left behind: it rejects rows from its
 * date on.
 */
export async function dropDivisionChecks(db: Queryable): Promise<number> {
  await db.run(sql`select drop_division_checks()`);
  return 0;
}
