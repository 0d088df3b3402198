import type { Core } from "../core.ts";
import { countAside } from "../db/set-aside.store.ts";
import { findOldestMail } from "../mails/mail.store.ts";

/** Shows how long the oldest item of a queue has been waiting, in seconds. */
export type ShowOldestDue = (value: number, labels: { queue: string }) => void;

export function showOldestDue({ metrics }: Pick<Core, "metrics">): ShowOldestDue {
  return metrics.gauge(
    "assay_oldest_due_seconds",
    "How long the oldest webhook has been due, and since when the oldest mail waits to be handed over. Without what is set aside.",
  );
}

/** Counts what is set aside for each of the jobs, and finds the oldest mail. Webhooks are measured where they are looked for. */
export function measureQueues(
  { db, clock, metrics }: Core,
  options: { jobs: readonly string[]; mailJob: string; show: ShowOldestDue },
): () => Promise<number> {
  const showAside = metrics.gauge(
    "assay_job_rows_set_aside",
    "Rows that are set aside now because a background job cannot deal with them.",
  );
  const known = new Set(options.jobs);
  return async () => {
    const now = clock.now();
    const counts = new Map((await countAside(db)).map(({ job, count }) => [job, count]));
    for (const job of counts.keys()) known.add(job);
    for (const job of known) showAside(counts.get(job) ?? 0, { job });
    const oldest = await findOldestMail(db, options.mailJob, now);
    options.show(oldest === null ? 0 : Math.max(0, now.getTime() - oldest.getTime()) / 1000, {
      queue: "mails",
    });
    return 0;
  };
}
