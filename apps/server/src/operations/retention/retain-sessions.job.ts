import type { SessionId } from "@assay/contract/ids";
import { countOldAuditLogs, deleteAuditLogs, takeOldAuditLogs } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { TakenRow } from "../../platform/db/quarantine.store.ts";
import type { Steps } from "../../platform/db/quarantine.ts";
import { dayMs, later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import type { Job } from "../../platform/lib/scheduler.ts";
import {
  countBacklog,
  deleteSessionsWithAttempts,
  minimiseAttempts,
  takeEndedSessions,
  takeOldAttempts,
} from "../../verification/sessions/session.store.ts";

const batchSize = 1000;
/** This job only counts, so no row can stop it. */
export const measureBacklogJob = "measure-backlog";
const maxCounted = 100_000;

/** Deletes the rows of another feature that belong to the given sessions. */
type DeleteBeside = (tx: Tx, sessionIds: readonly SessionId[]) => Promise<void>;

/**
 * Deletes data past its retention time, each run in one short transaction. The figures for analytics stay.
 * Data about devices is deleted when their attempts are minimised, all other data of a session with the
 * session.
 */
export function retentionJobs(
  core: Core,
  beside: { ofDevices: readonly DeleteBeside[]; ofSessions: readonly DeleteBeside[] },
): Job[] {
  const { config, db, clock, metrics, quarantine } = core;
  const sessionsEndedBefore = () => later(clock.now(), -config.sessionRetentionDays * dayMs);
  const attemptsEndedBefore = () => later(clock.now(), -config.attemptRetentionDays * dayMs);
  const auditedBefore = () => later(clock.now(), -config.auditRetentionDays * dayMs);
  const backlog = metrics.gauge(
    "assay_backlog_items",
    `Items that wait for a job, counted up to ${maxCounted}.`,
  );

  const sweep = <T extends TakenRow>(name: string, kind: string, steps: Steps<T>): Job => ({
    ...{ name, batchSize, everyMs: 5 * minuteMs, isShared: true },
    run: quarantine.rowsOf(name, kind).sweep(batchSize, steps),
  });

  return [
    sweep("purge-sessions", "sessions", {
      take: (tx, among) => takeEndedSessions(tx, sessionsEndedBefore(), among),
      handle: async (tx, sessions) => {
        const ids = sessions.map((session) => session.id);
        await deleteSessionsWithAttempts(tx, ids);
        for (const deleteBeside of [...beside.ofDevices, ...beside.ofSessions]) await deleteBeside(tx, ids);
      },
    }),
    sweep("minimise-attempts", "attempts", {
      take: (tx, among) => takeOldAttempts(tx, attemptsEndedBefore(), among),
      handle: async (tx, attempts) => {
        const ids = attempts.map((attempt) => attempt.sessionId);
        await minimiseAttempts(
          tx,
          attempts.map((attempt) => attempt.id),
          clock.now(),
        );
        for (const deleteBeside of beside.ofDevices) await deleteBeside(tx, ids);
      },
    }),
    sweep("purge-audit-logs", "audit_logs", {
      take: (tx, among) => takeOldAuditLogs(tx, auditedBefore(), among),
      handle: (tx, entries) =>
        deleteAuditLogs(
          tx,
          entries.map((entry) => entry.id),
        ),
    }),
    {
      name: measureBacklogJob,
      everyMs: 15 * secondMs,
      run: async () => {
        const at = {
          now: clock.now(),
          sessionsEndedBefore: sessionsEndedBefore(),
          attemptsEndedBefore: attemptsEndedBefore(),
        };
        const waiting = await countBacklog(db, at, maxCounted);
        backlog(waiting.due, { job: "expire-sessions" });
        backlog(waiting.purge, { job: "purge-sessions" });
        backlog(waiting.minimise, { job: "minimise-attempts" });
        backlog(await countOldAuditLogs(db, auditedBefore(), maxCounted), { job: "purge-audit-logs" });
        return 0;
      },
    },
  ];
}
