import type { OrganizationId } from "@assay/contract/ids";
import { type CleaningObstacle, cleanDeleted } from "../../platform/cleaning/clean-tables.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { dayMs, later, secondMs } from "../../platform/kernel/clock.ts";
import type { ReceiptKeyRow } from "../../platform/key-ring/receipt-key.store.ts";
import { openReceiptKey, signReceipt } from "../../platform/key-ring/receipt-key.ts";
import { removeMailFiles } from "../../platform/mails/mail-files.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { updateTombstone } from "./deletion.store.ts";
import {
  deleteWaitingReceipt,
  insertWaitingReceipt,
  lockCleanReceipts,
  postponeWaitingReceipts,
  readWaiting,
  type WaitingReceiptRow,
} from "./waiting-receipt.store.ts";

const batchSize = 20;

/** The content and recipients of the receipt, kept sealed until the files are clean. */
type WaitingReceipt = { name: string; scheduledFor: string; owners: readonly string[] };

const advice: Record<CleaningObstacle, string> = {
  old_transaction:
    "a transaction from before the deletion still runs; find it in pg_stat_activity (backend_xmin), pg_prepared_xacts or pg_replication_slots",
  table_in_use: "a table was in use constantly",
  took_too_long: "a table could not be rewritten within five minutes; the next try is in a day",
  log_in_use: "the write-ahead log is still needed, perhaps by a running backup",
  other_process: "another process is cleaning",
};

export async function awaitCleanFiles(
  { ring }: Pick<Core, "ring">,
  tx: Tx,
  organizationId: OrganizationId,
  receipt: WaitingReceipt,
  now: Date,
): Promise<void> {
  const content = ring.seal("deletion-receipt", JSON.stringify(receipt), organizationId);
  await insertWaitingReceipt(tx, { organizationId, content }, now);
}

/**
 * The last part of a deletion, after its rows: removes their bytes from the files, then signs the receipt.
 * Returns the number of completed deletions. Pending ones are logged, shown in /metrics and retried.
 */
export function completeDeletions(core: Core, job: string): () => Promise<number> {
  const rows = core.quarantine.rowsOf(job, "deletion_receipts");
  const { db, clock, log, metrics } = core;
  const showCount = metrics.gauge(
    "assay_deletions_waiting",
    "Deleted organizations whose receipt waits until the files are clean.",
  );
  const showAge = metrics.gauge(
    "assay_deletions_waiting_seconds",
    "How long the oldest of them has been waiting.",
  );
  return async () => {
    const waiting = await readWaiting(db, clock.now());
    showCount(waiting.count);
    showAge(waiting.since === null ? 0 : (clock.now().getTime() - waiting.since.getTime()) / secondMs);
    if (waiting.goneBefore === null) return 0;
    await removeMailFiles(core);
    const obstacle = await cleanDeleted(core, waiting.goneBefore);
    if (obstacle !== null) {
      if (obstacle === "took_too_long") await postponeWaitingReceipts(db, later(clock.now(), dayMs));
      log.warn("a deletion waits for clean files", {
        reason: obstacle,
        advice: advice[obstacle],
        deletions: waiting.count,
      });
      return 0;
    }
    const goneBefore = waiting.goneBefore;
    // The signing key is created outside of the transactions: it belongs to the installation, and a rollback
    // of one deletion must not undo it.
    const key = await openReceiptKey(core, db, "deletion-receipt");
    const completed = await rows.run(batchSize, {
      take: (tx, among) => lockCleanReceipts(tx, goneBefore, among),
      handle: async (tx, due) => {
        for (const row of due) await sendReceipt(core, tx, key, row);
      },
    });
    showCount(waiting.count - completed);
    return completed;
  };
}

async function sendReceipt(core: Core, tx: Tx, key: ReceiptKeyRow, row: WaitingReceiptRow): Promise<void> {
  const { clock, ring, log } = core;
  const now = clock.now();
  const organizationId = row.id;
  const content = JSON.parse(
    ring.openText("deletion-receipt", row.content, organizationId),
  ) as WaitingReceipt;
  const receipt = await signReceipt(core, "deletion-receipt", key, {
    iss: core.publicUrl(),
    organization_id: organizationId,
    organization_name: content.name,
    deletion_scheduled_for: content.scheduledFor,
    deleted_at: now.toISOString(),
  });
  for (const owner of content.owners) {
    // The organization no longer exists, so the mail belongs to none.
    await queueMail(
      core,
      tx,
      { to: owner },
      {
        kind: "organization_deleted",
        fill: {
          organization: content.name,
          at: now,
          receipt,
          keys: `${core.publicUrl()}/v1/auth/deletion-receipt-keys`,
        },
      },
    );
  }
  await updateTombstone(tx, organizationId, now);
  await deleteWaitingReceipt(tx, organizationId);
  log.info("an organization was deleted", { organizationId });
}
