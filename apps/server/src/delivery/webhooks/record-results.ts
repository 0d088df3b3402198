import type { DeliveryId, EndpointId } from "@assay/contract/ids";
import { recordAudit, systemActor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { newId } from "../../platform/kernel/ids.ts";
import { type LeasedDelivery, type RecordedAttempt, recordAttempts } from "./delivery.store.ts";
import { type AttemptResult, afterAttempt, disabledBy } from "./delivery.ts";
import { disableEndpoint, markFailing, markSucceeding } from "./endpoint.store.ts";
import type { Exchange } from "./exchange.ts";
import { mailEndpointDisabled } from "./notify-owners.ts";

export type Finished = {
  delivery: LeasedDelivery;
  result: AttemptResult;
  record: RecordedAttempt;
};

/** What is to be recorded of an attempt. */
export function finish(
  delivery: LeasedDelivery,
  result: AttemptResult,
  { attemptedAt, durationMs, exchange }: { attemptedAt: Date; durationMs: number; exchange: Exchange | null },
  now: Date,
): Finished {
  const next = afterAttempt(delivery, result, now, Math.random());
  return {
    delivery,
    result,
    record: {
      organizationId: delivery.organizationId,
      sandbox: delivery.sandbox,
      deliveryId: delivery.id,
      leaseNumber: delivery.leaseNumber,
      attemptId: newId("wha", attemptedAt),
      statusCode: result.statusCode,
      error: result.error,
      durationMs,
      attemptedAt,
      exchange,
      status: next.status,
      nextAttemptAt: next.status === "pending" ? next.nextAttemptAt : null,
      scrub: next.status !== "pending" && next.scrub,
      payloadExpiresAt: next.status === "failed" && !next.scrub ? next.payloadExpiresAt : null,
    },
  };
}

/** Records attempts and their effects on endpoints. Returns the deliveries whose lease was still held. */
export async function recordResults(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  owner: string,
  batch: readonly Finished[],
): Promise<DeliveryId[]> {
  const now = core.clock.now();
  const failed = batch.filter(({ result }) => result.error !== null);
  const recovered = batch.filter(
    ({ result, delivery }) => result.error === null && delivery.failingSince !== null,
  );
  const written = await recordAttempts(
    tx,
    owner,
    batch.map((entry) => entry.record),
    now,
  );
  // Failures are recorded before successes, so that an endpoint with both in one batch ends up as working.
  if (failed.length > 0) await markFailing(tx, endpointIdsOf(failed), now);
  if (recovered.length > 0) await markSucceeding(tx, endpointIdsOf(recovered));
  for (const { delivery, result } of failed) {
    const reason = disabledBy(result, delivery.failingSince, now);
    if (reason === null) continue;
    const notice = await disableEndpoint(
      tx,
      delivery.organizationId,
      delivery.endpointId,
      delivery.url,
      reason,
      now,
    );
    if (notice === null) continue;
    await recordAudit(tx, now, {
      ...tenantOf(notice),
      event: "webhook_endpoint.disabled",
      actor: systemActor,
      targetId: notice.id,
      details: { reason },
    });
    // A developer with a listener sees it in the terminal, so the owners get no mail.
    if (delivery.kind === "url") await mailEndpointDisabled(core, tx, notice, reason);
  }
  return written;
}

function endpointIdsOf(entries: readonly Finished[]): EndpointId[] {
  return [...new Set(entries.map(({ delivery }) => delivery.endpointId))].sort();
}
