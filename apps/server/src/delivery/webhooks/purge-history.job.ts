import type { DeliveryId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import {
  countPastRetention,
  deleteDeliveriesWithAttempts,
  type OwnDelivery,
  scrubPayloadsOf,
  takeExpiredPayloads,
  takeOldDeliveries,
} from "./delivery.store.ts";
import { forgetPreviousSecrets } from "./endpoint.store.ts";
import { oldEvents } from "./event.store.ts";

export const historyAtOnce = 1000;
const countUpTo = 10_000;

/** Deletes events and deliveries past their retention, a batch of each, and expired signing secrets. */
export function createPurgeHistory(core: Core, job: string): () => Promise<number> {
  const { db, clock, config, metrics, quarantine } = core;
  const showBacklog = metrics.gauge(
    "assay_webhook_history_backlog",
    `Events and deliveries past their retention, counted up to ${countUpTo} each.`,
  );
  return async () => {
    const cutoff = later(clock.now(), -config.webhookHistoryDays * dayMs);
    const deliveries = await quarantine.rowsOf(job, "webhook_deliveries").run(historyAtOnce, {
      take: (tx, among) => takeOldDeliveries(tx, cutoff, clock.now(), among),
      handle: (tx, rows) => deleteDeliveriesWithAttempts(tx, rows),
    });
    const events = await quarantine.purge(job, oldEvents(cutoff), historyAtOnce);
    await forgetPreviousSecrets(db, clock.now());
    showBacklog(await countPastRetention(db, cutoff, countUpTo));
    return deliveries + events;
  };
}

/** Scrubs encrypted payloads of failed deliveries whose retention has passed. */
export function scrubPayloads(
  { quarantine, clock }: Pick<Core, "clock" | "quarantine">,
  job: string,
): Promise<number> {
  return quarantine.rowsOf(job, "webhook_deliveries").run(historyAtOnce, {
    take: (tx, among) => takeExpiredPayloads(tx, clock.now(), among),
    handle: (tx, rows) => scrubPayloadsOf(tx, rows.map(idOf), clock.now()),
  });
}

function idOf(delivery: OwnDelivery): DeliveryId {
  return delivery.id;
}
