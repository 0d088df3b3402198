import type { Command } from "@assay/cli/command";
import { countAside, listAside, retryAside } from "../db/set-aside.store.ts";
import { withDatabase } from "../installation/open-installation.ts";

const mostShown = 1000;

export const jobsCommand: Command = {
  name: "jobs",
  about:
    "List the rows that background jobs cannot deal with and have set aside. Each line has the job, the table, the id, how often it failed, since when, when it is tried again, and the reason.",
  run: (_args, print) =>
    withDatabase(process.env, async (db) => {
      const rows = await listAside(db, mostShown);
      if (rows.length === 0) print("No row is set aside.");
      for (const row of rows) {
        print(
          `${row.job}  ${row.kind}  ${row.row_id}  failed ${row.tries} times since ${row.first_at.toISOString()}, last ${row.last_at.toISOString()}, next ${row.retry_at.toISOString()}: ${row.reason}`,
        );
      }
      if (rows.length === mostShown)
        for (const { job, count } of await countAside(db)) print(`${job}: ${count} in all`);
      return 0;
    }),
};

export const jobsRetry: Command = {
  name: "jobs retry",
  about:
    "Try rows again now that were set aside, once what was wrong with them is repaired. The running worker does it; those that fail again stay set aside.",
  options: { job: { type: "string", about: "Only the rows of this job.", placeholder: "NAME" } },
  run: ({ options }, print) =>
    withDatabase(process.env, async (db, { clock }) => {
      const job = typeof options.job === "string" ? options.job : null;
      print(`To be tried again: ${await retryAside(db, job, clock.now())}.`);
      return 0;
    }),
};
