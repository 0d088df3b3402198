import { operatorLimits } from "@assay/contract/operator";
import type { Core } from "../core.ts";
import { countAside, groupAside } from "../db/set-aside.store.ts";
import { later } from "../kernel/clock.ts";
import { forgottenAfterMs } from "../key-ring/ring-state.ts";
import { describeError } from "../lib/log.ts";
import { findOldestMail } from "../mails/mail.store.ts";
import type { CurrentTrust } from "../trust/current-trust.ts";
import { summarizeTrust, type TrustSummary } from "../trust/summarize-trust.ts";
import type { TrustReader } from "../trust/trust-reader.ts";
import { countDue, countFailingEndpoints } from "../webhooks/backlog.store.ts";
import { findDueEndpoints, setAsideAs } from "../webhooks/delivery.store.ts";
import { concernsOf } from "./concerns.ts";
import { countMails, readDatabaseFacts } from "./installation.store.ts";
import type { InstallationStatus } from "./installation-status.ts";
import { listReports } from "./process-report.store.ts";
import { isSilent, jobStandings } from "./process-report.ts";

export type StatusNeeds = {
  readiness: { problem: () => Promise<string | null>; isOverloaded: () => boolean };
  self: { version: string; startedAt: Date };
  trust: CurrentTrust;
  trustReader: TrustReader;
  /** The job that hands mails over. */
  mailJob: string;
};

type StatusCore = Pick<Core, "db" | "clock" | "log">;

/** How the installation fares. One statement after the other: a page that looks every few seconds takes no more than one connection. */
export async function readStatus(core: StatusCore, needs: StatusNeeds): Promise<InstallationStatus> {
  const { db, clock } = core;
  const now = clock.now();
  const problem = await needs.readiness.problem();
  const { schema_version: schemaVersion, database_version: databaseVersion } = await readDatabaseFacts(db);
  const processes = (await listReports(db, later(now, -forgottenAfterMs))).map((process) => ({
    ...process,
    isSilent: isSilent(process, now),
  }));
  const aside = new Map((await countAside(db)).map(({ job, count }) => [job, count]));
  const asideOf = (job: string) => aside.get(job) ?? 0;
  const status = {
    now,
    health: {
      problem,
      isOverloaded: needs.readiness.isOverloaded(),
      version: needs.self.version,
      startedAt: needs.self.startedAt,
      schemaVersion,
      databaseVersion,
    },
    processes,
    jobs: jobStandings(processes.filter((process) => !process.isSilent)).map((job) => ({
      ...job,
      setAside: asideOf(job.name),
    })),
    setAside: {
      count: [...aside.values()].reduce((all, some) => all + some, 0),
      groups: await groupAside(db, operatorLimits.groups),
    },
    trust: await findTrust(core, needs),
    webhooks: { ...(await readWebhooks(core, now)), setAside: asideOf(setAsideAs.job) },
    mails: {
      ...capped(await countMails(db, operatorLimits.counted + 1)),
      oldestAt: await findOldestMail(db, needs.mailJob, now),
      setAside: asideOf(needs.mailJob),
    },
  };
  return { ...status, concerns: concernsOf(status) };
}

async function readWebhooks({ db }: StatusCore, now: Date) {
  const due = await findDueEndpoints(db, now);
  const ids = due.map(({ id }) => id);
  const oldest = Math.min(...due.map(({ due_at }) => due_at.getTime()));
  return {
    ...capped(await countDue(db, ids, now, operatorLimits.counted + 1)),
    oldestDueAt: due.length === 0 ? null : new Date(oldest),
    endpointsDue: due.length,
    endpointsFailing: await countFailingEndpoints(db),
  };
}

function capped(count: number): { count: number; isCapped: boolean } {
  return { count: Math.min(count, operatorLimits.counted), isCapped: count > operatorLimits.counted };
}

/** What else is to be told does not wait for a thread that has no time. */
async function findTrust(core: StatusCore, needs: StatusNeeds): Promise<TrustSummary | null> {
  try {
    return await summarizeTrust(core, needs.trust, needs.trustReader);
  } catch (error) {
    core.log.warn("the operator's page could not be told what is trusted", describeError(error));
    return null;
  }
}
