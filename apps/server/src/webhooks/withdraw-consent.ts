import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { scrubUndelivered } from "./delivery.store.ts";
import { type NewEvent, publishEvents } from "./publish-event.ts";

/**
 * The person takes back what they agreed to. What has not reached the partner never will. Where no delivery had succeeded,
 * the partner is told that the session was cancelled instead; the caller then moves the session, in the same transaction.
 */
export async function withdrawConsent(
  core: Core,
  tx: Tx,
  now: Date,
  withdrawal: {
    organizationId: string;
    sandbox: boolean;
    session: NonNullable<NewEvent["session"]> & { nfcTriesUsed: number; livenessTriesUsed: number };
  },
): Promise<{ replaced: boolean }> {
  const { organizationId, sandbox, session } = withdrawal;
  const { succeeded } = await scrubUndelivered(tx, organizationId, session.id, now);
  if (succeeded > 0) return { replaced: false };
  await publishEvents(core, tx, now, [
    {
      organizationId,
      type: "verification.session.cancelled",
      sandbox,
      session,
      data: {
        outcome: "not_verified",
        reason: "consent_withdrawn",
        nfc_tries_used: session.nfcTriesUsed,
        liveness_tries_used: session.livenessTriesUsed,
      },
    },
  ]);
  return { replaced: true };
}
