import type { DeliveryId, EndpointId } from "@assay/contract/ids";
import type { BodyOf } from "@assay/contract/route";
import type * as contract from "@assay/contract/webhook-listeners";
import type { Core } from "../../platform/core.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { type DeliveryRow, findDelivery, findUnanswered } from "./delivery.store.ts";
import { type AttemptResult, errorOfStatus } from "./delivery.ts";
import { notifyAnswered } from "./listener.store.ts";
import { finish, recordResults } from "./record-results.ts";

type Needs = Pick<Core, "db" | "clock" | "ring" | "publicUrl">;

/**
 * Records the answer of a listener's receiver; any process may get it. The lease number is a fencing token:
 * an answer to an earlier lease is refused. The duration is measured here from the claim, as for a URL, and
 * is not taken from the listener.
 */
export async function answerDelivery(
  core: Needs,
  caller: OrganizationCaller,
  { endpointId, deliveryId }: { endpointId: EndpointId; deliveryId: DeliveryId },
  body: BodyOf<typeof contract.answerListenerDelivery>,
): Promise<DeliveryRow> {
  const result = resultOf(body);
  const now = core.clock.now();
  return core.db.transaction(async (tx) => {
    const leased = await findUnanswered(tx, caller, endpointId, deliveryId, body.lease);
    const written =
      leased === null
        ? []
        : await recordResults(core, tx, leased.leaseOwner, [
            finish(
              leased,
              result,
              {
                attemptedAt: leased.leasedAt,
                durationMs: Math.max(0, now.getTime() - leased.leasedAt.getTime()),
                // The developer sees the receiver's answer in the terminal, so it is not stored.
                exchange: null,
              },
              now,
            ),
          ]);
    const row = await findDelivery(tx, caller, deliveryId, now);
    if (row?.endpointId !== endpointId) throw new ApiError("NOT_FOUND");
    if (written.length === 0)
      throw new ApiError("DELIVERY_NOT_WAITING", {
        message: "The delivery no longer waits for this answer.",
        hint: "It timed out, was already answered, or was sent again. Answer with the `lease` of the latest delivery.",
      });
    notifyAnswered(tx, { deliveryId, leaseNumber: body.lease, outcome: result.error ?? "succeeded" });
    return row;
  });
}

function resultOf({
  status_code: statusCode,
  error,
  retry_after: retryAfter,
}: BodyOf<typeof contract.answerListenerDelivery>): AttemptResult {
  if (statusCode !== undefined && error === undefined)
    return { statusCode, error: errorOfStatus(statusCode), retryAfter: retryAfter ?? null };
  if (statusCode === undefined && error !== undefined) return { statusCode: null, error, retryAfter: null };
  throw badField("status_code", "or `error` must be given, and not both");
}
