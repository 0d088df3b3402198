import type { SessionId } from "@assay/contract/ids";
import { countOldAuditLogs, deleteOldAuditLogs } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { dayMs, later, minuteMs, secondMs } from "../kernel/clock.ts";
import type { Job } from "../lib/scheduler.ts";
import { lastOf, sweepInOrder } from "../lib/sweep.ts";
import { countBacklog, deleteEndedSessions, minimiseAttempts } from "../sessions/session.store.ts";

const batchSize = 1000;
const mostCounted = 100_000;

/** Deletes what another feature keeps beside the given sessions. */
type DeleteBeside = (tx: Tx, sessionIds: readonly SessionId[]) => Promise<void>;

/**
 * Deletes data that is past its retention time, each run in one short transaction; the figures for analytics stay. Data
 * about devices goes when their attempts are minimised, long after the session's hour. Everything else that is kept
 * beside a session goes with it.
 */
export function retentionJobs(
  core: Core,
  beside: { ofDevices: readonly DeleteBeside[]; ofSessions: readonly DeleteBeside[] },
): Job[] {
  const { config, db, clock, metrics } = core;
  const sessionsEndedBefore = () => later(clock.now(), -config.sessionRetentionDays * dayMs);
  const attemptsEndedBefore = () => later(clock.now(), -config.attemptRetentionDays * dayMs);
  const auditedBefore = () => later(clock.now(), -config.auditRetentionDays * dayMs);
  const backlog = metrics.gauge(
    "assay_backlog_items",
    `Items that wait for a job, counted up to ${mostCounted}.`,
  );

  const inOrder = (batch: (afterId: string, limit: number) => Promise<{ id: string }[]>) =>
    sweepInOrder(batchSize, async (afterId, limit) => {
      const rows = await batch(afterId, limit);
      return { handled: rows.length, lastKey: lastOf(rows) };
    });

  return [
    {
      name: "purge-sessions",
      everyMs: 5 * minuteMs,
      run: inOrder((afterId, limit) =>
        db.transaction(async (tx) => {
          const deleted = await deleteEndedSessions(tx, sessionsEndedBefore(), afterId, limit);
          const ids = deleted.map((session) => session.id);
          for (const deleteBeside of [...beside.ofDevices, ...beside.ofSessions]) await deleteBeside(tx, ids);
          return deleted;
        }),
      ),
    },
    {
      name: "minimise-attempts",
      everyMs: 5 * minuteMs,
      run: inOrder((afterId, limit) =>
        db.transaction(async (tx) => {
          const minimised = await minimiseAttempts(tx, attemptsEndedBefore(), afterId, limit, clock.now());
          const ids = minimised.map((attempt) => attempt.session_id);
          for (const deleteBeside of beside.ofDevices) await deleteBeside(tx, ids);
          return minimised;
        }),
      ),
    },
    {
      name: "purge-audit-logs",
      everyMs: 5 * minuteMs,
      run: inOrder((afterId, limit) => deleteOldAuditLogs(db, auditedBefore(), afterId, limit)),
    },
    {
      name: "measure-backlog",
      everyMs: 15 * secondMs,
      run: async () => {
        const at = {
          now: clock.now(),
          sessionsEndedBefore: sessionsEndedBefore(),
          attemptsEndedBefore: attemptsEndedBefore(),
        };
        const waiting = await countBacklog(db, at, mostCounted);
        backlog(waiting.due, { job: "expire-sessions" });
        backlog(waiting.purge, { job: "purge-sessions" });
        backlog(waiting.minimise, { job: "minimise-attempts" });
        backlog(await countOldAuditLogs(db, auditedBefore(), mostCounted), { job: "purge-audit-logs" });
        return 0;
      },
    },
  ];
}
