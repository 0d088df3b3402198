import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import { queueMail } from "../mails/queue-mail.ts";
import {
  deleteOrganizationRow,
  deleteOwnedRows,
  insertTombstone,
  startDueDeletion,
} from "./deletion.store.ts";
import { openReceiptKey, signReceipt } from "./deletion-receipt.ts";
import { listOwners } from "./member.store.ts";
import { lockOrganization } from "./organization.store.ts";
import { ownedTables } from "./owned-tables.store.ts";

const batchSize = 1000;

/**
 * One small step of deleting an organization whose 48 hours are over. Every step is a transaction of its own and safe
 * to repeat: after any interruption whichever process takes the next step continues with the rows that are left. The
 * last step is one transaction that leaves the tombstone, the receipts in the outbox and nothing else.
 */
export async function hardDeleteStep(core: Core): Promise<number> {
  const { db, clock } = core;
  const organizationId = await startDueDeletion(db, clock.now());
  if (organizationId === null) return 0;
  for (const table of ownedTables) {
    const removed = await deleteOwnedRows(db, organizationId, table, batchSize, "skip");
    if (removed > 0) return removed;
  }
  return finish(core, organizationId);
}

async function finish(core: Core, organizationId: OrganizationId): Promise<number> {
  const { db, clock, log } = core;
  // The signing key is made outside of this transaction: the key is the installation's, and a rollback of one
  // deletion must not undo it.
  const key = await openReceiptKey(core, db);
  const finished = await db.transaction(async (tx) => {
    const now = clock.now();
    const organization = await lockOrganization(tx, organizationId);
    if (organization === null || organization.pending_deletion_at === null) return false;
    // Rows that were locked by another process, and therefore skipped, in the steps before.
    for (const table of ownedTables) {
      const left = await deleteOwnedRows(tx, organizationId, table, batchSize, "wait");
      if (left > 0) return true;
    }
    const receipt = signReceipt(core, key, core.publicUrl(), {
      organization_id: organizationId,
      organization_name: organization.name,
      deletion_scheduled_for: organization.pending_deletion_at.toISOString(),
      deleted_at: now.toISOString(),
    });
    for (const owner of await listOwners(tx, organizationId)) {
      await queueMail(core, tx, {
        to: owner.email,
        subject: `${organization.name} was deleted`,
        paragraphs: [
          `The organization ${organization.name} and everything in it were deleted at ${now.toISOString()}. Your own account stays.`,
          "This is the signed receipt. Keep it: nothing is left here from which it could be made again.",
          receipt,
          `It is a compact JWS signed with Ed25519. The public key is at ${core.publicUrl()}/v1/auth/deletion-receipt-keys, named by its "kid".`,
        ],
      });
    }
    await insertTombstone(tx, organizationId, now);
    await deleteOrganizationRow(tx, organizationId);
    log.info("an organization was deleted", { organizationId });
    return true;
  });
  return finished ? 1 : 0;
}
