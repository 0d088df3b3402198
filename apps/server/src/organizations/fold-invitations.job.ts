import { foldEmail } from "@assay/contract/email";
import type { InvitationId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import { listUnfoldedInvitations, setFoldedInvitation } from "./invitation.store.ts";

const batchSize = 500;

/**
 * Gives invitations that an earlier version wrote the folded form of their address. One whose address is none by today's rules, or that
 * a newer invitation has as well, stays without: its link works as before for the seven days that it lives.
 */
export async function foldInvitations({ db }: Pick<Core, "db">): Promise<number> {
  let folded = 0;
  let before: InvitationId | null = null;
  for (;;) {
    const rows = await listUnfoldedInvitations(db, before, batchSize);
    for (const row of rows) {
      const email = foldEmail(row.email);
      if (email !== null && (await setFoldedInvitation(db, row.organization_id, row.id, email))) folded += 1;
    }
    before = rows.at(-1)?.id ?? null;
    if (before === null) return folded;
  }
}
