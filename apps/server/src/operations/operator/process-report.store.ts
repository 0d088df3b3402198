import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import { type ReportedProcess, readReport } from "./process-report.ts";

/**
 * The last report of each process. Processes of releases that report elsewhere have no role here and are
 * skipped.
 */
export async function listReports(db: Queryable, since: Date): Promise<ReportedProcess[]> {
  const rows = await db.rows<Omit<ReportedProcess, "report"> & { report: unknown }>(sql`
    select name, role, version, started_at, seen_at, report from key_ring_processes
    where seen_at >= ${since} and role is not null order by name, started_at`);
  return rows.map((row) => ({ ...row, report: readReport(row.report) }));
}
