import type { DeliveryId, EndpointId } from "@assay/contract/ids";
import type { BodyOf } from "@assay/contract/route";
import type * as contract from "@assay/contract/webhook-listeners";
import type { Core } from "../../platform/core.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { type DeliveryRow, findDelivery, findUnanswered } from "./delivery.store.ts";
import { type AttemptResult, errorOfStatus } from "./delivery.ts";
import { tellAnswered } from "./listener.store.ts";
import { finish, recordResults } from "./record-results.ts";

type Needs = Pick<Core, "db" | "clock" | "ring" | "publicUrl">;

/**
 * Records what the receiver behind a listener answered, at whichever process the answer comes in. The lease number is the fence: a delivery that was taken back,
 * timed out or answered meanwhile does not wait for this answer any more. How long it took is what passed since it was claimed, as for
 * a URL, and nothing that the listener says.
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
                // What the receiver behind a listener answered is on its owner's screen.
                exchange: null,
              },
              now,
            ),
          ]);
    const row = await findDelivery(tx, caller, deliveryId, now);
    if (row?.endpointId !== endpointId) throw new ApiError("NOT_FOUND");
    if (written.length === 0)
      throw new ApiError("DELIVERY_NOT_WAITING", {
        message: "The delivery does not wait for this answer any more.",
        hint: "It has timed out, was answered, or is sent again, and then waits for the answer to that.",
      });
    tellAnswered(tx, { deliveryId, leaseNumber: body.lease, outcome: result.error ?? "succeeded" });
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
