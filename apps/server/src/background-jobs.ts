import { apiLogLimits } from "@assay/contract/api-log";
import { quarantinedAs } from "./delivery/webhooks/delivery.store.ts";
import { createPurgeHistory, historyAtOnce, scrubPayloads } from "./delivery/webhooks/purge-history.job.ts";
import { listenersAtOnce, removeAbsentListeners } from "./delivery/webhooks/remove-absent-listeners.job.ts";
import {
  answerMailsJob,
  expireSessionsJob,
  foldEmailsJob,
  foldInvitationsJob,
  keyUsageJob,
  reportProcessJob,
  sendMailsJob,
} from "./job-names.ts";
import type { Services } from "./open-services.ts";
import { dropDivisionChecks } from "./operations/retention/division-check.store.ts";
import { measureQueues } from "./operations/retention/measure-queues.job.ts";
import { measureBacklogJob, retentionJobs } from "./operations/retention/retain-sessions.job.ts";
import type { Core } from "./platform/core.ts";
import { codeVersion } from "./platform/db/migrate.ts";
import { type Expired, retryChannel } from "./platform/db/quarantine.store.ts";
import { expiredAnswers } from "./platform/http/idempotency.store.ts";
import { dayMs, hourMs, later, minuteMs, secondMs } from "./platform/kernel/clock.ts";
import { ringChannel } from "./platform/key-ring/ring-state.store.ts";
import { reportEveryMs } from "./platform/key-ring/ring-state.ts";
import { describeError } from "./platform/lib/log.ts";
import type { Job, Scheduler } from "./platform/lib/scheduler.ts";
import { removeMailFiles } from "./platform/mails/mail-files.ts";
import { mailChannel } from "./platform/mails/queue-mail.ts";
import { createMailTransport, mailsAtOnce, sendDueMails } from "./platform/mails/send-mails.job.ts";
import { answerMailRequests, requestsAtOnce } from "./tenants/accounts/answer-mail-requests.job.ts";
import { foldEmails } from "./tenants/accounts/fold-emails.job.ts";
import { leftoversAtOnce, purgeAccountLeftovers } from "./tenants/accounts/purge-accounts.job.ts";
import { mailRequestChannel } from "./tenants/accounts/request-link.ts";
import { expiredUserSessions } from "./tenants/accounts/user.store.ts";
import { oldApiRequests } from "./tenants/api-keys/api-request.store.ts";
import { expiredChallenges } from "./tenants/domains/domain.store.ts";
import { domainsAtOnce, recheckDomains } from "./tenants/domains/recheck-domains.job.ts";
import { foldInvitations } from "./tenants/organizations/fold-invitations.job.ts";
import { deleteOrganizations } from "./tenants/organizations/hard-delete.job.ts";
import { expiredInvitations } from "./tenants/organizations/invitation.store.ts";
import { deleteAttemptSockets } from "./verification/attempts/attempt-socket.store.ts";
import { countSessionOutcomes, outcomesAtOnce } from "./verification/sessions/count-outcomes.job.ts";
import { expiredAtOnce, expireSessions } from "./verification/sessions/expire-sessions.job.ts";
import { refreshTrust } from "./verification/trust/refresh-trust.job.ts";
import { createShowTrust } from "./verification/trust/show-trust.ts";
import { deleteConsents } from "./verification/verify/consent.store.ts";
import { deleteHandoffTokens } from "./verification/verify/handoff.store.ts";
import { deleteWalletRequests, expiredRequests } from "./verification/wallet/wallet-request.store.ts";
import { createShowWallet } from "./verification/wallet-identity/show-wallet.ts";
import { retiredIdentities } from "./verification/wallet-identity/wallet-identity.store.ts";
import { unusedStatusLists } from "./verification/wallet-status/status-list.store.ts";

/** Every process counts its requests and seals with the key ring, so every process runs these jobs. */
export function jobsOfEveryProcess(services: Services): Job[] {
  const { core, usage, apiLog, ringMember, trust, trustReader, isWatched } = services;
  return [
    {
      name: keyUsageJob,
      everyMs: secondMs,
      run: async () => {
        await usage.retry();
        await Promise.all([usage.flush(), apiLog.flush()]);
        return 0;
      },
    },
    {
      name: reportProcessJob,
      everyMs: reportEveryMs,
      run: async () => {
        await services.followClock(core.db);
        await ringMember.refresh();
        return 0;
      },
    },
    ...(isWatched
      ? [
          { name: "show-trust", everyMs: minuteMs, run: createShowTrust(core, trust, trustReader) },
          { name: "show-wallet", everyMs: minuteMs, run: createShowWallet(core) },
        ]
      : []),
  ];
}

/** A job that processes rows. Rows that it cannot process are quarantined under its name. */
type RowJob = Omit<Job, "run"> & { run: (job: string) => () => Promise<number> };

const purgedAtOnce = 1000;

/** Jobs that only delete expired rows. */
function purgeJobs({ clock, quarantine }: Pick<Core, "clock" | "quarantine">): RowJob[] {
  const daysAgo = (days: number) => later(clock.now(), -days * dayMs);
  const purging = (name: string, everyMs: number, expired: () => Expired): RowJob => ({
    name,
    everyMs,
    batchSize: purgedAtOnce,
    run: (job) => () => quarantine.purge(job, expired(), purgedAtOnce),
  });
  const shared = [
    purging("purge-idempotent-answers", 10 * minuteMs, () => expiredAnswers(clock.now())),
    purging("purge-domain-challenges", hourMs, () => expiredChallenges(daysAgo(30))),
    purging("purge-api-requests", 10 * minuteMs, () => oldApiRequests(daysAgo(apiLogLimits.days))),
    purging("purge-invitations", hourMs, () => expiredInvitations(clock.now())),
    purging("purge-user-sessions", hourMs, () => expiredUserSessions(clock.now())),
    purging("purge-wallet-identities", hourMs, () => retiredIdentities(daysAgo(1))),
    purging("purge-status-lists", hourMs, () => unusedStatusLists(daysAgo(30))),
  ];
  return [
    ...shared.map((job) => ({ ...job, isShared: true })),
    purging("purge-wallet-requests", 15 * secondMs, () => expiredRequests(clock.now())),
  ];
}

/** The one list of background work. Each run handles a bounded batch and can be repeated. */
export function jobsOfWorkers({
  core,
  deliveryWorker,
  showOldest,
  safeFetch,
  trust,
  trustReader,
}: Services): Job[] {
  const { config, db } = core;
  const mailTransport = createMailTransport(core);
  const rowJobs: RowJob[] = [
    {
      name: sendMailsJob,
      everyMs: 5 * secondMs,
      batchSize: mailsAtOnce,
      run: (job) => () => sendDueMails(core, mailTransport, job),
    },
    {
      name: answerMailsJob,
      everyMs: 10 * secondMs,
      batchSize: requestsAtOnce,
      run: (job) => () => answerMailRequests(core, job),
    },
    // For rows that processes of the previous version write during an update.
    { name: foldEmailsJob, everyMs: minuteMs, run: (job) => () => foldEmails(core, job) },
    { name: foldInvitationsJob, everyMs: minuteMs, run: (job) => () => foldInvitations(core, job) },
    {
      name: "purge-account-leftovers",
      everyMs: 10 * minuteMs,
      isShared: true,
      batchSize: leftoversAtOnce,
      run: (job) => () => purgeAccountLeftovers(core, job),
    },
    {
      name: expireSessionsJob,
      everyMs: secondMs,
      batchSize: expiredAtOnce,
      run: (job) => expireSessions(core, job),
    },
    {
      name: "count-outcomes",
      everyMs: 15 * secondMs,
      batchSize: outcomesAtOnce,
      run: (job) => () => countSessionOutcomes(core, job),
    },
    { name: "delete-organizations", everyMs: minuteMs, run: (job) => deleteOrganizations(core, job) },
    {
      name: "recheck-domains",
      everyMs: minuteMs,
      batchSize: domainsAtOnce,
      run: (job) => () => recheckDomains(core, job),
    },
    {
      name: "scrub-webhook-payloads",
      everyMs: 30 * secondMs,
      batchSize: historyAtOnce,
      run: (job) => () => scrubPayloads(core, job),
    },
    {
      name: "purge-webhook-history",
      everyMs: 10 * minuteMs,
      isShared: true,
      batchSize: historyAtOnce,
      run: (job) => createPurgeHistory(core, job),
    },
    {
      name: "remove-absent-listeners",
      everyMs: minuteMs,
      batchSize: listenersAtOnce,
      run: (job) => () => removeAbsentListeners(core, job),
    },
    {
      name: "refresh-trust",
      everyMs: minuteMs,
      run: (job) => () => refreshTrust({ ...core, safeFetch, trust, reader: trustReader }, job),
    },
    ...purgeJobs(core),
  ];
  const jobs: Job[] = [
    ...rowJobs.map((job) => ({ ...job, run: job.run(job.name) })),
    ...retentionJobs(core, {
      ofDevices: [deleteAttemptSockets, deleteHandoffTokens, deleteWalletRequests],
      ofSessions: [deleteConsents],
    }),
    { name: "drop-division-checks", everyMs: hourMs, isShared: true, run: () => dropDivisionChecks(db) },
    // Each machine has its own files, so every worker runs this job.
    { name: "remove-mail-files", everyMs: 10 * minuteMs, run: () => removeMailFiles(core) },
  ];
  const measure = measureQueues(core, {
    jobs: [...jobs.map(({ name }) => name), quarantinedAs.job, keyUsageJob].filter(
      (name) => name !== measureBacklogJob,
    ),
    mailJob: sendMailsJob,
    mailRequestJob: answerMailsJob,
    expiryJob: expireSessionsJob,
    show: showOldest,
    schemaVersion: codeVersion(),
  });
  jobs.push({ name: "measure-queues", everyMs: 15 * secondMs, run: measure });
  // A batch may take longer than a request may.
  const statementMs = config.databaseJobStatementSeconds * secondMs;
  return [
    ...jobs.map((job) => ({ ...job, run: () => db.withStatementLimit(statementMs, job.run) })),
    // The worker wakes by itself; as a job it can be awaited. Its statements are short.
    { name: quarantinedAs.job, everyMs: minuteMs, run: () => deliveryWorker.settle().then(() => 0) },
  ];
}

/** Runs the jobs that users wait for as soon as there is work, instead of at their next interval. */
export function wakeByNotification(
  { core, listener }: Services,
  scheduler: Scheduler,
  jobs: readonly Job[],
): void {
  const wake = (name: string) =>
    void scheduler
      .run(name)
      .catch((error) =>
        core.log.warn("background job failed, will run again", { job: name, ...describeError(error) }),
      );
  listener.on(ringChannel, () => wake(reportProcessJob));
  if (jobs.every(({ name }) => name !== sendMailsJob)) return;
  listener.on(mailChannel, () => wake(sendMailsJob));
  listener.on(mailRequestChannel, () => wake(answerMailsJob));
  // After a reconnect the payload is empty. The job then retries the rows at its next interval.
  listener.on(retryChannel, (name) => {
    core.quarantine.invalidate();
    if (jobs.some((job) => job.name === name)) wake(name);
  });
}
