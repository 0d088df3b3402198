import { foldEmail } from "@assay/contract/email";
import type { InvitationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import {
  findUnfoldedInvitation,
  listUnfoldedInvitations,
  setFoldedInvitation,
  type UnfoldedInvitationRow,
} from "./invitation.store.ts";

const batchSize = 500;

/**
 * Sets the folded address of invitations from an earlier version. An invitation with an invalid address, or
 * with the address of a newer one, stays without: its link works until it expires after seven days.
 */
export async function foldInvitations(
  { db, quarantine }: Pick<Core, "db" | "quarantine">,
  job: string,
): Promise<number> {
  const rows = quarantine.rowsOf(job, "invitations");
  const fold = async ({ organizationId, id, email }: UnfoldedInvitationRow) => {
    const folded = foldEmail(email);
    return folded !== null && (await setFoldedInvitation(db, organizationId, id, folded));
  };
  let done = await rows.retry(async (id) => {
    const row = await findUnfoldedInvitation(db, id);
    if (row !== null) await fold(row);
  });
  let before: InvitationId | null = null;
  for (;;) {
    const found: readonly UnfoldedInvitationRow[] = await listUnfoldedInvitations(db, before, batchSize);
    const waiting = new Set(await rows.waiting(found.map(({ id }) => id)));
    for (const row of found.filter(({ id }) => !waiting.has(id)))
      await rows.guard(row, async () => {
        if (await fold(row)) done += 1;
      });
    before = found.at(-1)?.id ?? null;
    if (before === null) return done;
  }
}
