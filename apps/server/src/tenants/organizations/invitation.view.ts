import type { Invitation } from "@assay/contract/organizations";
import type { Static } from "typebox";
import type { InvitationRow } from "./invitation.store.ts";

export function viewInvitation(row: InvitationRow): Static<typeof Invitation> {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    invited_by: row.invitedBy,
    expires_at: row.expiresAt.toISOString(),
    created_at: row.createdAt.toISOString(),
  };
}
