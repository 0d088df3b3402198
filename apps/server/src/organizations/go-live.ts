import type { OrganizationId } from "@assay/contract/ids";
import { recordAct } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import type { Queryable, Tx } from "../db/db.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { MemberCaller } from "../kernel/caller.ts";
import { isComplete } from "./business-details.ts";
import { findAcceptance, readBusinessDetails, setLive } from "./go-live.store.ts";
import { lockOrganization } from "./organization.store.ts";
import { isCurrent, type RpTerms } from "./rp-terms.ts";

export type GoLiveNeeds = {
  terms: RpTerms;
  /** Passed in by `app.ts`, because the folder of domains depends on this one and must not be imported from here. */
  hasActiveDomain: (tx: Tx, organizationId: OrganizationId) => Promise<boolean>;
  /** Passed in as well: whether any live document can be accepted at all. */
  trustsAnybody: (db: Queryable) => Promise<boolean>;
};

/** Takes the organization out of the sandbox, once and for good. */
export async function goLive(
  { db, clock }: Core,
  { terms, hasActiveDomain, trustsAnybody }: GoLiveNeeds,
  caller: MemberCaller,
): Promise<void> {
  const now = clock.now();
  const { organizationId } = caller;
  await db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    if (organization === null) throw new ApiError("FORBIDDEN");
    if (organization.environment === "live") {
      throw new ApiError("CONFLICT", { message: "The organization is live already." });
    }
    const missing: string[] = [];
    if (!isCurrent(await findAcceptance(tx, organizationId, terms), terms))
      missing.push("accept the current relying-party terms (POST /v1/auth/orgs/rp-terms)");
    if (!isComplete(await readBusinessDetails(tx, organizationId)))
      missing.push("complete the business details (POST /v1/auth/orgs/business-details)");
    if (!(await hasActiveDomain(tx, organizationId)))
      missing.push("verify a domain (POST /v1/auth/orgs/domains/challenges/dns)");
    if (!(await trustsAnybody(tx))) missing.push("the operator trusts no issuing authority yet");
    if (missing.length > 0)
      throw new ApiError("ORGANIZATION_NOT_READY", { hint: `Missing: ${missing.join("; ")}.` });
    await setLive(tx, organizationId, now);
    await recordAct(tx, now, caller, {
      event: "organization.went_live",
      targetId: organizationId,
    });
  });
}
