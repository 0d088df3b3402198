import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Among } from "../../platform/db/set-aside.ts";
import { sql } from "../../platform/db/sql.ts";

export type WaitingReceiptRow = { id: OrganizationId; content: Buffer };

/**
 * Part of the transaction that removes the last rows. Deletions that are over have lower numbers than its snapshot ends with, and its own
 * are lower than the number after its own.
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

/** Of all deletions that wait for clean files: how many, since when, and what is to be cleaned now. */
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
 * Deletions whose texts are gone with everything before this number. Held, so that one receipt is made of each. The column is named with its
 * table: rows that are set aside have one of the same name.
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
