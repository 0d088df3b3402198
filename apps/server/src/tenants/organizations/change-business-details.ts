import type * as contract from "@assay/contract/go-live";
import type { BodyOf } from "@assay/contract/route";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { type BusinessDetails, changedText } from "./business-details.ts";
import { readBusinessDetails, writeBusinessDetails } from "./go-live.store.ts";
import { lockOrganization } from "./organization.store.ts";

/** An absent field keeps its value; null or blank clears it. */
export function changeBusinessDetails(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
  body: BodyOf<typeof contract.updateBusinessDetails>,
): Promise<BusinessDetails> {
  const now = clock.now();
  const { organizationId } = caller;
  return db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    const current = await readBusinessDetails(tx, organizationId);
    const changed: BusinessDetails = {
      type: body.business_type === undefined ? current.type : (body.business_type ?? "sole"),
      name: changedText(current.name, body.business_name),
      jurisdiction: changedText(current.jurisdiction, body.business_jurisdiction),
      registrationNumber: changedText(current.registrationNumber, body.business_registration_number),
    };
    await writeBusinessDetails(tx, organizationId, changed, now);
    await recordAct(tx, now, caller, {
      event: "business_details.updated",
      targetId: organizationId,
      details: changed,
    });
    return changed;
  });
}
