import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

/** Drops what a process of the release before left of a division that it did not finish: a check that refuses rows from its date on. */
export async function dropDivisionChecks(db: Queryable): Promise<number> {
  await db.run(sql`select drop_division_checks()`);
  return 0;
}
