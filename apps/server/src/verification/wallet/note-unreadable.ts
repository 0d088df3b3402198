import { personActor, recordAudit } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { countUnreadable } from "./wallet-request.store.ts";
import type { WalletRequest } from "./wallet-request.ts";

/** An unreadable answer uses up no try. A few retire the request, which bounds the audit log. */
export function noteUnreadable(
  { db, clock }: Pick<Core, "db" | "clock">,
  request: WalletRequest,
): Promise<void> {
  return db.transaction(async (tx) => {
    if (!(await countUnreadable(tx, request.idHash))) return;
    await recordAudit(tx, clock.now(), {
      ...tenantOf(request),
      event: "session.wallet_rejected",
      actor: personActor,
      targetId: request.sessionId,
      details: { attempt_id: request.attemptId, failure_code: null, reasons: ["unreadable"] },
    });
  });
}
