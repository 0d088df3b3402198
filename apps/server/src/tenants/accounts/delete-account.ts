import type { UserId } from "@assay/contract/ids";
import { recordAudit } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { reauthenticated, type UserProof } from "./reauthenticate.ts";
import {
  listSolelyOwnedOrganizations,
  lockOrganizationsOf,
  lockUser,
  removeInvitationsOf,
  removeMembershipsOf,
  removeUser,
} from "./user.store.ts";

export function deleteAccount(core: Core, caller: UserCaller, proof: UserProof): Promise<void> {
  return reauthenticated(core, caller, proof, (tx) => removeAccount(core, tx, caller.userId));
}

async function removeAccount(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  userId: UserId,
): Promise<void> {
  const now = core.clock.now();
  // Lock order: organizations, then the user, as in every write of memberships. Any other order could
  // deadlock.
  await lockOrganizationsOf(tx, userId);
  const user = await lockUser(tx, userId);
  if (user === null) throw new ApiError("UNAUTHORIZED");
  const owned = await listSolelyOwnedOrganizations(tx, userId);
  if (owned.length > 0) {
    throw new ApiError("SOLE_OWNER", {
      message: "You are the sole owner of an organization.",
      hint: `Make another member an owner, or delete the organization, then try again: ${owned.map((organization) => organization.name).join(", ")}.`,
    });
  }
  for (const { id, organizationId, role } of await removeInvitationsOf(tx, userId)) {
    await recordAudit(tx, now, {
      environment: null,
      organizationId,
      event: "invitation.revoked",
      actor: { kind: "user", id: userId },
      targetId: id,
      details: { role, reason: "sender_lost_right" },
    });
  }
  for (const organizationId of await removeMembershipsOf(tx, userId)) {
    await recordAudit(tx, now, {
      environment: null,
      organizationId,
      event: "member.account_deleted",
      actor: { kind: "user", id: userId },
      targetId: userId,
    });
  }
  // Queued while the account still exists, for its name and language.
  await queueMail(core, tx, { to: user.email }, { kind: "account_deleted", fill: {} });
  await removeUser(tx, userId);
}
