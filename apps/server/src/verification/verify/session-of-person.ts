import type { SessionId } from "@assay/contract/ids";
import type { Question, Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import {
  type OrganizationOfPerson,
  organizationOfSession,
} from "../../tenants/organizations/organization.store.ts";
import { heldSessionOfPerson, type SessionRow } from "../sessions/session.store.ts";
import { isOpen, statusAt } from "../sessions/session.ts";

/**
 * The session for an action of the person, locked until the transaction ends. Refused once it has ended.
 * `question` is read in the same round trip, after the lock.
 */
export async function lockOpenSessionOfPerson<T>(
  tx: Tx,
  sessionId: SessionId,
  now: Date,
  question: Question<T>,
): Promise<{ session: SessionRow; organization: OrganizationOfPerson; answer: T }> {
  const [session, organization, answer] = await tx.ask(
    heldSessionOfPerson(sessionId),
    organizationOfSession(sessionId),
    question,
  );
  if (session === null) throw new ApiError("SESSION_NOT_FOUND");
  const status = statusAt(session, now);
  if (status === "expired") throw new ApiError("SESSION_EXPIRED");
  if (!isOpen(status)) throw new ApiError("SESSION_ENDED");
  if (organization === null) throw new ApiError("SESSION_NOT_FOUND");
  // A person should share nothing with an organization that is about to be deleted.
  if (organization.pendingDeletionAt !== null)
    throw new ApiError("ORGANIZATION_FROZEN", { hint: "Ask the organization that sent you here." });
  return { session, organization, answer };
}
