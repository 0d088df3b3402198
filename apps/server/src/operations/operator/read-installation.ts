import { operatorLimits } from "@assay/contract/operator";
import { countDue, countFailingEndpoints } from "../../delivery/webhooks/backlog.store.ts";
import { findDueEndpoints, quarantinedAs } from "../../delivery/webhooks/delivery.store.ts";
import type { Db } from "../../platform/db/db.ts";
import { countQuarantinedRows, groupQuarantinedRows } from "../../platform/db/quarantine.store.ts";
import { later } from "../../platform/kernel/clock.ts";
import { forgottenAfterMs } from "../../platform/key-ring/ring-state.ts";
import { findOldestMail } from "../../platform/mails/mail.store.ts";
import type { Facts } from "./facts.ts";
import { countMails } from "./installation.store.ts";
import { listReports } from "./process-report.store.ts";
import { isSilent, summarizeJobs } from "./process-report.ts";

/**
 * What the database records. Statements run one after the other, so that a page which polls every few seconds
 * takes only one connection.
 */
export async function readInstallation(
  db: Db,
  { now, hasRun, mailJob }: { now: Date; hasRun: boolean; mailJob: string },
): Promise<Pick<Facts, "work" | "webhooks">> {
  const processes = (await listReports(db, later(now, -forgottenAfterMs))).map((process) => ({
    ...process,
    isSilent: isSilent(process, now),
  }));
  const aside = new Map((await countQuarantinedRows(db)).map(({ job, count }) => [job, count]));
  const asideOf = (job: string) => aside.get(job) ?? 0;
  return {
    work: {
      hasRun,
      processes,
      jobs: summarizeJobs(processes.filter((process) => !process.isSilent)).map((job) => ({
        ...job,
        quarantined: asideOf(job.name),
      })),
      quarantined: {
        count: [...aside.values()].reduce((all, some) => all + some, 0),
        groups: await groupQuarantinedRows(db, operatorLimits.groups),
      },
      mails: {
        ...capped(await countMails(db, operatorLimits.counted + 1)),
        oldestAt: await findOldestMail(db, mailJob, now),
        quarantined: asideOf(mailJob),
      },
    },
    webhooks: { ...(await readWebhooks(db, now)), quarantined: asideOf(quarantinedAs.job) },
  };
}

async function readWebhooks(db: Db, now: Date): Promise<Omit<Facts["webhooks"], "quarantined">> {
  const due = await findDueEndpoints(db, now);
  const ids = due.map(({ id }) => id);
  return {
    ...capped(await countDue(db, ids, now, operatorLimits.counted + 1)),
    oldestDueAt: oldestOf(due),
    oldestSendableAt: oldestOf(due.filter(({ failing }) => failing !== true)),
    endpointsDue: due.length,
    endpointsFailing: await countFailingEndpoints(db),
  };
}

function oldestOf(due: readonly { dueAt: Date }[]): Date | null {
  return due.length === 0 ? null : new Date(Math.min(...due.map(({ dueAt: at }) => at.getTime())));
}

function capped(count: number): { count: number; isCapped: boolean } {
  return { count: Math.min(count, operatorLimits.counted), isCapped: count > operatorLimits.counted };
}
