import type { Queryable } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { type ProcessReport, type ProcessRole, type ReportedProcess, readReport } from "./process-report.ts";

export type OwnReport = {
  id: string;
  name: string;
  role: ProcessRole;
  version: string;
  /** The newest migration that it contains: one that contracts waits for processes that contain less than it asks for. */
  codeVersion: number;
  startedAt: Date;
  now: Date;
  report: ProcessReport;
};

export async function saveReport(db: Queryable, own: OwnReport): Promise<void> {
  await db.run(sql`
    insert into process_reports (id, name, role, version, code_version, started_at, seen_at, report)
    values (${own.id}, ${own.name}, ${own.role}, ${own.version}, ${own.codeVersion}, ${own.startedAt}, ${own.now}, ${JSON.stringify(own.report)}::jsonb)
    on conflict (id) do update set seen_at = excluded.seen_at, report = excluded.report`);
}

export async function removeReport(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from process_reports where id = ${id}`);
}

export async function forgetReports(db: Queryable, before: Date): Promise<void> {
  await db.run(sql`delete from process_reports where seen_at < ${before}`);
}

export async function listReports(db: Queryable, since: Date): Promise<ReportedProcess[]> {
  const rows = await db.rows<{
    name: string;
    role: ProcessRole;
    version: string;
    started_at: Date;
    seen_at: Date;
    report: unknown;
  }>(sql`
    select name, role, version, started_at, seen_at, report from process_reports
    where seen_at >= ${since} order by name, started_at`);
  return rows.map(({ started_at, seen_at, report, ...row }) => ({
    ...row,
    startedAt: started_at,
    seenAt: seen_at,
    report: readReport(report),
  }));
}
