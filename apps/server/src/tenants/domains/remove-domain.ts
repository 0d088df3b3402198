import type { DomainId } from "@assay/contract/ids";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { deleteDomain } from "./domain.store.ts";

export async function removeDomain(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
  domainId: DomainId,
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const removed = await deleteDomain(tx, caller.organizationId, domainId);
    if (removed === null) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "domain.removed",
      targetId: domainId,
      details: { apex_domain: removed.apexDomain },
    });
  });
}
