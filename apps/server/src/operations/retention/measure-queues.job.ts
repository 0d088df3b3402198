import type { Core } from "../../platform/core.ts";
import { findHorizons, findSchemaName } from "../../platform/db/horizon.store.ts";
import { countQuarantinedRows } from "../../platform/db/quarantine.store.ts";
import { oldestMail } from "../../platform/mails/mail.store.ts";
import { oldestMailRequest } from "../../tenants/accounts/mailed-token.store.ts";
import { oldestDueSession } from "../../verification/sessions/session.store.ts";
import { findOldestDue } from "./oldest-due.store.ts";

/** Sets the gauge of the age of a queue's oldest item, in seconds. */
export type ShowOldestDue = (value: number, labels: { queue: string }) => void;

export function showOldestDue({ metrics }: Pick<Core, "metrics">): ShowOldestDue {
  return metrics.gauge(
    "assay_oldest_due_seconds",
    "How long the oldest item of a queue has been due, without quarantined items.",
  );
}

type Options = {
  /** Every job that quarantines rows. */
  jobs: readonly string[];
  mailJob: string;
  mailRequestJob: string;
  expiryJob: string;
  show: ShowOldestDue;
  /** The number of the newest migration that this code knows. */
  schemaVersion: number;
};

/**
 * Measures what alarms need and only the database knows. A job does it, so that `/metrics` answers even if
 * the database does not; a separate gauge has the age of the figures. The delivery worker measures webhooks.
 */
export function measureQueues(
  core: Pick<Core, "db" | "clock" | "metrics">,
  options: Options,
): () => Promise<number> {
  const { db, clock, metrics } = core;
  const showQuarantined = metrics.gauge(
    "assay_job_rows_set_aside",
    "Rows in quarantine because a background job cannot process them.",
  );
  const known = new Set(options.jobs);
  const measureDatabase = createDatabaseMeasure(core, options.schemaVersion);
  let measuredAt: number | null = null;
  metrics.gaugeOf(
    "assay_measured_seconds_ago",
    "Age of a worker's figures from the database: queues, quarantined rows, horizons, schema.",
    () => (measuredAt === null ? null : (performance.now() - measuredAt) / 1000),
  );
  return async () => {
    const now = clock.now();
    const counts = new Map((await countQuarantinedRows(db)).map(({ job, count }) => [job, count]));
    for (const job of counts.keys()) known.add(job);
    for (const job of known) showQuarantined(counts.get(job) ?? 0, { job });
    const { mailRequests, ...oldest } = await findOldestDue(db, {
      mails: oldestMail(options.mailJob, now),
      mailRequests: oldestMailRequest(options.mailRequestJob, now),
      expiries: oldestDueSession(options.expiryJob, now),
    });
    for (const [queue, since] of Object.entries({ ...oldest, mail_requests: mailRequests }))
      options.show(since === null ? 0 : Math.max(0, now.getTime() - since.getTime()) / 1000, { queue });
    await measureDatabase();
    measuredAt = performance.now();
    return 0;
  };
}

const holders = ["session", "prepared", "slot", "standby"] as const;

function createDatabaseMeasure({ db, metrics }: Pick<Core, "db" | "metrics">, schemaVersion: number) {
  const showTransactions = metrics.gauge(
    "assay_db_horizon_transactions",
    "Transactions since the oldest snapshot in use, by its holder. Rows deleted since then stay in the files.",
  );
  const showSeconds = metrics.gauge(
    "assay_db_horizon_seconds",
    "Age of the oldest transaction in the database, by its holder.",
  );
  const showSchema = metrics.gauge(
    "assay_schema_version",
    "Number of the newest migration: of the database, and of this code.",
  );
  return async () => {
    const found = new Map((await findHorizons(db)).map((horizon) => [horizon.holder, horizon]));
    for (const holder of holders) {
      showTransactions(found.get(holder)?.transactions ?? 0, { holder });
      if (holder === "session" || holder === "prepared")
        showSeconds(found.get(holder)?.seconds ?? 0, { holder });
    }
    showSchema(Number.parseInt((await findSchemaName(db)) ?? "0", 10), { of: "database" });
    showSchema(schemaVersion, { of: "code" });
  };
}
