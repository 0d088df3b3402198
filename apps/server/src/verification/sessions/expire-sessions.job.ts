import { type PublishingCore, publishEvents } from "../../delivery/webhooks/publish-event.ts";
import { insertAudits, systemActor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { later, minuteMs } from "../../platform/kernel/clock.ts";
import { dayOf, stageOf } from "./day-figures.ts";
import { knownOf } from "./end-session.ts";
import { type ExpiredSession, expireSessionRows, findNextExpiry, takeDueSessions } from "./session.store.ts";
import { countOutcomes } from "./session-day.store.ts";

export const expiredAtOnce = 1000;
/** Sessions live much longer, so none that is created after a run expires before the next one. */
const lookAgainMs = minuteMs;

/**
 * Ends expired sessions and publishes their events. One short transaction writes status, event, audit entry
 * and count of a batch. Concurrent processes take different sessions.
 */
export function expireSessions(
  core: PublishingCore & Pick<Core, "quarantine">,
  job: string,
): () => Promise<number> {
  // Between these two moments no session expires.
  let quiet = { from: new Date(0), until: new Date(0) };
  return core.quarantine.rowsOf(job, "sessions").sweep(expiredAtOnce, {
    take: async (db, among) => {
      const now = core.clock.now();
      if (!among.isRetry && now >= quiet.from && now < quiet.until) return [];
      const due = await takeDueSessions(db, now, among);
      if (due.length > 0) return due;
      const next = await findNextExpiry(db);
      const lookAgainAt = later(now, lookAgainMs);
      quiet = { from: now, until: next !== null && next < lookAgainAt ? next : lookAgainAt };
      return [];
    },
    handle: (tx, sessions) => writeExpiry(core, tx, core.clock.now(), sessions),
  });
}

async function writeExpiry(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  sessions: readonly ExpiredSession[],
): Promise<void> {
  await expireSessionRows(tx, sessions);
  await publishEvents(
    core,
    tx,
    now,
    sessions.map((session) => ({
      session,
      type: "verification.session.expired",
      data: knownOf(session),
    })),
  );
  const audits = sessions.map((session) => ({
    ...tenantOf(session),
    event: "session.expired" as const,
    actor: systemActor,
    targetId: session.id,
  }));
  tx.write(insertAudits(now, audits));
  await countOutcomes(
    tx,
    sessions.map((session) => ({
      organizationId: session.organizationId,
      sandbox: session.sandbox,
      day: dayOf(session.createdAt),
      status: "expired",
      failureCode: null,
      secondsBucket: null,
      stage: stageOf(session.steps) ?? session.stageBeforeSteps,
      method: null,
      by: 1,
    })),
  );
}
