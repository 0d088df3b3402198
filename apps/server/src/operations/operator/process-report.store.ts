import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import { type ReportedProcess, readReport } from "./process-report.ts";

/** As they last reported. Processes of a release that reports elsewhere have no role here, and are left out. */
export async function listReports(db: Queryable, since: Date): Promise<ReportedProcess[]> {
  const rows = await db.rows<Omit<ReportedProcess, "report"> & { report: unknown }>(sql`
    select name, role, version, started_at, seen_at, report from key_ring_processes
    where seen_at >= ${since} and role is not null order by name, started_at`);
  return rows.map((row) => ({ ...row, report: readReport(row.report) }));
}
