import { later } from "../kernel/clock.ts";
import type { Queryable } from "./db.ts";
import { sql } from "./sql.ts";

/**
 * Timers fire a little early or late. Without this slack every second one would find that the interval has
 * not passed.
 */
const slack = 0.1;

/** Whether this process should run the job now. True for one process in each interval; records the run. */
export async function claimJobRun(
  db: Queryable,
  job: { name: string; everyMs: number },
  now: Date,
): Promise<boolean> {
  const claimed = await db.first(sql`
    insert into job_runs (name, last_run_at) values (${job.name}, ${now})
    on conflict (name) do update set last_run_at = excluded.last_run_at
      where job_runs.last_run_at <= ${later(now, -job.everyMs * (1 - slack))}
    returning name`);
  return claimed !== null;
}
