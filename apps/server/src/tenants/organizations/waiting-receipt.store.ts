import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { sql } from "../../platform/db/sql.ts";

export type WaitingReceiptRow = { id: OrganizationId; content: Buffer };

/**
 * Part of the transaction that deletes the last rows. `gone_before` is higher than the numbers of all
 * finished deletions and of this transaction itself.
 */
export async function insertWaitingReceipt(
  tx: Tx,
  receipt: { organizationId: OrganizationId; content: Buffer },
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into deletion_receipts (organization_id, content, gone_before, rows_gone_at)
    values (${receipt.organizationId}, ${receipt.content},
      greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id()::text::bigint + 1), ${now})`);
}

/** All deletions that wait for clean files: how many, since when, and what to clean now. */
export function readWaiting(
  db: Queryable,
  now: Date,
): Promise<{ count: number; since: Date | null; goneBefore: number | null }> {
  return db.one(sql`
    select count(*) as count, min(rows_gone_at) as since,
      max(gone_before) filter (where retry_at is null or retry_at <= ${now}) as gone_before
    from deletion_receipts`);
}

/**
 * Deletions whose rows are gone from the files up to this number. Locked, so that each gets one receipt. The
 * column is qualified, because quarantined rows have one of the same name.
 */
export function lockCleanReceipts(
  db: Queryable,
  goneBefore: number,
  among: Among,
): Promise<WaitingReceiptRow[]> {
  return db.rows<WaitingReceiptRow>(sql`
    select organization_id as id, content from deletion_receipts
    where gone_before <= ${goneBefore} and ${among.where(sql`deletion_receipts.organization_id`, "uuid")}
    order by gone_before limit ${among.limit} ${among.lock}`);
}

export async function deleteWaitingReceipt(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await tx.run(sql`delete from deletion_receipts where organization_id = ${organizationId}`);
}

export async function postponeWaitingReceipts(db: Queryable, until: Date): Promise<void> {
  await db.run(sql`update deletion_receipts set retry_at = ${until}`);
}
