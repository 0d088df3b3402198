import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Steps } from "../../platform/db/set-aside.ts";
import { awaitCleanFiles, completeDeletions } from "./complete-deletion.ts";
import {
  deleteOrganizationRow,
  deleteOwnedRows,
  insertTombstone,
  startDeletions,
  takeDueDeletions,
} from "./deletion.store.ts";
import { listOwners } from "./member.store.ts";
import { lockOrganization } from "./organization.store.ts";
import { ownedTables } from "./owned-tables.store.ts";

const batchSize = 1000;

/** Rows first: many organizations that are due together are cleaned up after once. */
export function deleteOrganizations(core: Core, job: string): () => Promise<number> {
  const complete = completeDeletions(core, job);
  return async () => (await hardDeleteStep(core, job)) || complete();
}

/**
 * One small step of deleting an organization whose 48 hours are over. Every step is a transaction of its own and safe
 * to repeat: after any interruption whichever process takes the next step continues with the rows that are left. The
 * last step is one transaction that leaves the tombstone and, sealed, what the receipts will say once the files are clean
 * (`complete-deletion.ts`).
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
    const removed = await core.db.transaction((tx) =>
      deleteOwnedRows(tx, organizationId, table, batchSize, "skip"),
    );
    if (removed > 0) return removed;
  }
  return finish(core, organizationId);
}

async function finish(core: Core, organizationId: OrganizationId): Promise<number> {
  const { db, clock, log } = core;
  const finished = await db.transaction(async (tx) => {
    const now = clock.now();
    const organization = await lockOrganization(tx, organizationId);
    if (organization === null || organization.pendingDeletionAt === null) return false;
    // Rows that were locked by another process, and therefore skipped, in the steps before.
    for (const table of ownedTables) {
      const left = await deleteOwnedRows(tx, organizationId, table, batchSize, "wait");
      if (left > 0) return true;
    }
    const owners = await listOwners(tx, organizationId);
    await insertTombstone(tx, organizationId, now);
    await deleteOrganizationRow(tx, organizationId);
    const receipt = {
      name: organization.name,
      scheduledFor: organization.pendingDeletionAt.toISOString(),
      owners: owners.map((owner) => owner.email),
    };
    await awaitCleanFiles(core, tx, organizationId, receipt, now);
    log.info("the rows of an organization are deleted; its files are cleaned next", { organizationId });
    return true;
  });
  return finished ? 1 : 0;
}
