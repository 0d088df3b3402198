import type { SessionId } from "@assay/contract/ids";
import type { Tx } from "../db/db.ts";
import { ApiError } from "../kernel/api-error.ts";
import { findOrganizationOfPerson, type OrganizationOfPerson } from "../organizations/organization.store.ts";
import { lockSessionOfPerson, type SessionRow } from "../sessions/session.store.ts";
import { isOpen, statusAt } from "../sessions/session.ts";

/** The session for something that a person does, held until the transaction ends. Refused once it has ended. */
export async function lockOpenSessionOfPerson(
  tx: Tx,
  sessionId: SessionId,
  now: Date,
): Promise<{ session: SessionRow; organization: OrganizationOfPerson }> {
  const session = await lockSessionOfPerson(tx, sessionId);
  if (session === null) throw new ApiError("SESSION_NOT_FOUND");
  const status = statusAt({ status: session.status, expiresAt: session.expires_at }, now);
  if (status === "expired") throw new ApiError("SESSION_EXPIRED");
  if (!isOpen(status)) throw new ApiError("SESSION_ENDED");
  const organization = await findOrganizationOfPerson(tx, session.organization_id);
  if (organization === null) throw new ApiError("SESSION_NOT_FOUND");
  // Nobody should share anything with an organization that is about to be gone.
  if (organization.pending_deletion_at !== null)
    throw new ApiError("ORGANIZATION_FROZEN", { hint: "Ask the organization that sent you here." });
  return { session, organization };
}
