import type { Queryable } from "../../platform/db/db.ts";
import { type Sql, sql } from "../../platform/db/sql.ts";

type Oldest = { mails: Date | null; mailRequests: Date | null; expiries: Date | null };

/** The due time of the oldest item of each queue, in one statement. */
export function findOldestDue(db: Queryable, of: Record<keyof Oldest, Sql>): Promise<Oldest> {
  return db.one<Oldest>(sql`
    select (${of.mails}) as mails, (${of.mailRequests}) as mail_requests, (${of.expiries}) as expiries`);
}
