import type { Tx } from "../db/db.ts";
import { scrubUndelivered } from "./delivery.store.ts";

/**
 * The person takes back what they agreed to: what has not reached the partner never will. Tells whether something had;
 * if nothing had, the caller ends the session as cancelled in the same transaction, and that is what the partner hears.
 */
export async function withdrawConsent(
  tx: Tx,
  session: { id: string; organizationId: string },
  now: Date,
): Promise<"nothing_delivered" | "delivered"> {
  const { succeeded } = await scrubUndelivered(tx, session.organizationId, session.id, now);
  return succeeded > 0 ? "delivered" : "nothing_delivered";
}
