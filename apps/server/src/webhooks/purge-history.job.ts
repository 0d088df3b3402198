import type { Core } from "../core.ts";
import { dayMs, later } from "../kernel/clock.ts";
import { countPastRetention, purgeDeliveries, scrubExpiredPayloads } from "./delivery.store.ts";
import { purgeEvents } from "./event.store.ts";

const batchSize = 1000;
const countUpTo = 10_000;

/** Removes events and deliveries that are past their time, one batch of each. */
export function createPurgeHistory(core: Core): () => Promise<number> {
  const { db, clock, config, metrics } = core;
  const showBacklog = metrics.gauge(
    "assay_webhook_history_backlog",
    `Events and deliveries past their retention, counted up to ${countUpTo} each.`,
  );
  return async () => {
    const cutoff = later(clock.now(), -config.webhookHistoryDays * dayMs);
    const deliveries = await purgeDeliveries(db, cutoff, batchSize);
    const events = await purgeEvents(db, cutoff, batchSize);
    showBacklog(await countPastRetention(db, cutoff, countUpTo));
    return deliveries + events;
  };
}

/** Scrubs encrypted payloads of failed deliveries whose retention has passed. */
export function scrubPayloads({ db, clock }: Core): Promise<number> {
  return scrubExpiredPayloads(db, clock.now(), batchSize);
}
