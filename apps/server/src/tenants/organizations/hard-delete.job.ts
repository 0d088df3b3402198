import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Steps } from "../../platform/db/quarantine.ts";
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

/** Rows first, so that one cleaning serves many organizations that are due together. */
export function deleteOrganizations(core: Core, job: string): () => Promise<number> {
  const complete = completeDeletions(core, job);
  return async () => (await hardDeleteStep(core, job)) || complete();
}

/**
 * One small step in deleting an organization whose 48 hours are over, in its own transaction. Any process can
 * continue after an interruption. The last step leaves the tombstone and, sealed, the content of the receipts
 * until the files are clean (`complete-deletion.ts`).
 */
export async function hardDeleteStep(core: Core, job: string): Promise<number> {
  const { clock } = core;
  // The quarantine row of an organization does not belong to it. Otherwise each step would remove it, and the
  // time to the next retry would never grow.
  const rows = core.quarantine.rowsOf(job, "organizations");
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
    // Continues with the next organization.
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
    // Rows that another process had locked, so that earlier steps skipped them.
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
    log.info("the rows of an organization are deleted; cleaning the files is next", { organizationId });
    return true;
  });
  return finished ? 1 : 0;
}
