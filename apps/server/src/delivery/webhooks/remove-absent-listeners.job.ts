import { listenerAbsenceMinutes } from "@assay/contract/webhook-listeners";
import { recordAudit, systemActor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { later, minuteMs } from "../../platform/kernel/clock.ts";
import { endDeliveriesOf } from "./delivery.store.ts";
import { deleteListeners, notifyListenerChanged, takeAbsentListeners } from "./listener.store.ts";

export const listenersAtOnce = 100;

/** Deletes listeners whose stream has not been open for too long, as a user would. */
export function removeAbsentListeners(
  { quarantine, clock }: Pick<Core, "clock" | "quarantine">,
  job: string,
): Promise<number> {
  const now = clock.now();
  const before = later(now, -listenerAbsenceMinutes * minuteMs);
  return quarantine.rowsOf(job, "webhook_endpoints").run(listenersAtOnce, {
    take: (tx, among) => takeAbsentListeners(tx, before, among),
    handle: async (tx, listeners) => {
      const ids = listeners.map(({ id }) => id);
      await deleteListeners(tx, ids);
      await endDeliveriesOf(tx, ids, now);
      for (const { id, name, ...listener } of listeners) {
        notifyListenerChanged(tx, id);
        await recordAudit(tx, now, {
          ...tenantOf(listener),
          event: "webhook_endpoint.deleted",
          actor: systemActor,
          targetId: id,
          details: { name, kind: "listener", reason: "listener_absent" },
        });
      }
    },
  });
}
