import { recordAudits, systemActor } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { isRetryable, type Tx } from "../db/db.ts";
import { lastOf, StuckBatch, sweepInOrder } from "../lib/sweep.ts";
import { type PublishingCore, publishEvents } from "../webhooks/publish-event.ts";
import { sessionEvent, triesOf } from "./end-session.ts";
import { type ExpiredSession, expireDueSessions } from "./session.store.ts";
import { countExpired } from "./session-day.store.ts";

const batchSize = 1000;

/**
 * Tells the partners about sessions that have expired: status, event, audit entry and count of a batch are one short
 * transaction. Any number of processes may run it at once, each takes other sessions.
 */
export function expireSessions(core: PublishingCore & Pick<Core, "db">): () => Promise<number> {
  const { db, clock } = core;
  return sweepInOrder(batchSize, async (afterId, limit) => {
    const now = clock.now();
    const expired = await db.transaction(async (tx) => {
      const sessions = await expireDueSessions(tx, now, afterId, limit);
      if (sessions.length > 0) await writeExpiry(core, tx, now, sessions);
      return sessions;
    });
    return { handled: expired.length, lastKey: lastOf(expired) };
  });
}

async function writeExpiry(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  sessions: readonly ExpiredSession[],
): Promise<void> {
  try {
    await publishEvents(
      core,
      tx,
      now,
      sessions.map((session) =>
        sessionEvent(session, { type: "verification.session.expired", data: triesOf(session) }),
      ),
    );
    await recordAudits(
      tx,
      now,
      sessions.map((session) => ({
        organizationId: session.organization_id,
        event: "session.expired" as const,
        actor: systemActor,
        targetId: session.id,
      })),
    );
    await countExpired(
      tx,
      sessions.map((session) => ({
        organizationId: session.organization_id,
        sandbox: session.sandbox,
        createdAt: session.created_at,
      })),
    );
  } catch (error) {
    // A deadlock is no fault of the batch: the transaction is repeated.
    if (isRetryable(error)) throw error;
    throw new StuckBatch(lastOf(sessions), error);
  }
}
