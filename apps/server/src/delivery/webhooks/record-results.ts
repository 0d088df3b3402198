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

/** An attempt that is to be recorded. */
export type Finished = RecordedAttempt & { delivery: LeasedDelivery; result: AttemptResult };

export function finish(
  delivery: LeasedDelivery,
  result: AttemptResult,
  attempt: { attemptedAt: Date; durationMs: number; exchange: Exchange | null },
  now: Date,
): Finished {
  const attemptId = newId("wha", attempt.attemptedAt);
  return {
    delivery,
    result,
    attemptId,
    ...attempt,
    next: afterAttempt(delivery, result, now, Math.random()),
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
  const written = await recordAttempts(tx, owner, batch, now);
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
