import { countExpired } from "../analytics/session-day.store.ts";
import { recordAudits, systemActor } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { lastOf, sweepInOrder } from "../lib/sweep.ts";
import { type PublishingCore, publishEvents } from "../webhooks/publish-event.ts";
import { sessionEvent, triesOf } from "./end-session.ts";
import { expireDueSessions } from "./session.store.ts";

const batchSize = 1000;

/**
 * Tells the partners about sessions that have expired: status, event, audit entry and count of a batch are one short
 * transaction. Any number of processes may run it at once, each takes other sessions.
 */
export function expireSessions(core: PublishingCore & Pick<Core, "db">): () => Promise<number> {
  const { db, clock } = core;
  return sweepInOrder(async (afterId) => {
    const now = clock.now();
    const expired = await db.transaction(async (tx) => {
      const sessions = await expireDueSessions(tx, now, afterId, batchSize);
      if (sessions.length === 0) return sessions;
      await publishEvents(
        core,
        tx,
        now,
        sessions.map((session) => sessionEvent(session, "verification.session.expired", triesOf(session))),
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
      return sessions;
    });
    return { handled: expired.length, lastKey: lastOf(expired) };
  });
}
