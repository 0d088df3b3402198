import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import type { Steps } from "../db/set-aside.ts";
import { queueMail } from "../mails/queue-mail.ts";
import {
  deleteOrganizationRow,
  deleteOwnedRows,
  insertTombstone,
  startDeletions,
  takeDueDeletions,
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
export async function hardDeleteStep(core: Core, job: string): Promise<number> {
  const { clock } = core;
  // The set-aside row of an organization is not among those that belong to it: each step would remove it, and
  // the time to the next try would never grow.
  const rows = core.setAside.rowsOf(job, "organizations");
  const start: Steps<{ id: OrganizationId }> = {
    take: (tx, among) => takeDueDeletions(tx, clock.now(), among),
    handle: (tx, due) =>
      startDeletions(
        tx,
        due.map((organization) => organization.id),
        clock.now(),
      ),
  };
  const healed = await rows.retry(async (id) => {
    for (const due of await rows.again(id, start)) while ((await deleteSome(core, due.id)) > 0);
  });
  const { taken, done } = await rows.batch(1, start);
  let deleted = 0;
  for (const due of done) {
    const whole = await rows.guard(due, async () => {
      deleted = await deleteSome(core, due.id);
    });
    // The next organization has its turn.
    if (!whole) deleted = 1;
  }
  return healed + (done.length < taken.length ? 1 : deleted);
}

async function deleteSome(core: Core, organizationId: OrganizationId): Promise<number> {
  for (const table of ownedTables) {
    const removed = await deleteOwnedRows(core.db, organizationId, table, batchSize, "skip");
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
