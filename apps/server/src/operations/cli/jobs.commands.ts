import type { Command } from "@assay/cli/command";
import { table } from "@assay/cli/style";
import {
  countQuarantinedRows,
  listQuarantinedRows,
  type QuarantinedRow,
  retryQuarantinedRows,
} from "../../platform/db/quarantine.store.ts";
import { withDatabase } from "../../platform/installation/open-installation.ts";

const maxShown = 1000;

function cellsOf({ job, kind, rowId: id, tries, firstAt, retryAt, reason }: QuarantinedRow): string[] {
  const minuteOf = (at: Date) => at.toISOString().slice(0, 16);
  return [job, kind, id, String(tries), minuteOf(firstAt), minuteOf(retryAt), reason];
}

export const jobsCommand: Command = {
  name: "jobs",
  about:
    "List the rows that background jobs cannot process and have quarantined. Each line has the job, the table, the id, the number of failures, the first failure, the next retry and the reason.",
  options: { json: { type: "boolean", about: "Print one JSON object per line." } },
  run: ({ options }, print, style) =>
    withDatabase(process.env, async (db) => {
      const rows = await listQuarantinedRows(db, maxShown);
      if (options.json === true) {
        for (const { rowId, firstAt, lastAt, retryAt, ...row } of rows)
          print(
            JSON.stringify({ ...row, row_id: rowId, first_at: firstAt, last_at: lastAt, retry_at: retryAt }),
          );
        return 0;
      }
      if (rows.length === 0) print("No row is quarantined.");
      const headings = ["job", "table", "id", "tries", "since", "next", "reason"];
      if (rows.length > 0) for (const line of table(headings, rows.map(cellsOf), style)) print(line);
      if (rows.length === maxShown)
        for (const { job, count } of await countQuarantinedRows(db)) print(`${job}: ${count} in all`);
      return 0;
    }),
};

export const jobsRetry: Command = {
  name: "jobs retry",
  about:
    "Retry quarantined rows now, after you have repaired their cause. The running worker does it. Rows that fail again stay quarantined.",
  options: { job: { type: "string", about: "Only the rows of this job.", placeholder: "NAME" } },
  run: ({ options }, print) =>
    withDatabase(process.env, async (db, { clock }) => {
      const job = typeof options.job === "string" ? options.job : null;
      print(`Rows to retry: ${await retryQuarantinedRows(db, job, clock.now())}.`);
      return 0;
    }),
};
