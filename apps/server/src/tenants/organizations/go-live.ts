import type { ResultsWithoutEndpoint } from "@assay/contract/go-live";
import type { OrganizationId } from "@assay/contract/ids";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Queryable } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller, Tenant } from "../../platform/kernel/caller.ts";
import { isComplete } from "./business-details.ts";
import { findAcceptance, readBusinessDetails, setLive } from "./go-live.store.ts";
import { type GoLiveFacts, whatIsMissing } from "./go-live-readiness.ts";
import { lockOrganization } from "./organization.store.ts";
import { isCurrent, type RpTerms } from "./rp-terms.ts";

export type GoLiveNeeds = {
  terms: RpTerms;
  /**
   * Passed in by `create-app.ts`, because the domains folder imports this one and must not be imported from
   * here.
   */
  hasActiveDomain: (db: Queryable, organizationId: OrganizationId) => Promise<boolean>;
  /** Also passed in: whether any live document can be accepted. */
  hasTrustedAuthority: (db: Queryable) => Promise<boolean>;
  /**
   * Also passed in: whether an enabled live endpoint with an active key is subscribed to the success event.
   */
  canReceiveResults: (db: Queryable, tenant: Tenant) => Promise<boolean>;
  canReadDocuments: boolean;
};

export async function readGoLiveFacts(
  db: Queryable,
  organizationId: OrganizationId,
  { terms, hasActiveDomain, hasTrustedAuthority, canReceiveResults, canReadDocuments }: GoLiveNeeds,
): Promise<GoLiveFacts> {
  return {
    terms_accepted: isCurrent(await findAcceptance(db, organizationId, terms), terms),
    business_details_complete: isComplete(await readBusinessDetails(db, organizationId)),
    domain_verified: await hasActiveDomain(db, organizationId),
    state_trusted: await hasTrustedAuthority(db),
    results_received: await canReceiveResults(db, { organizationId, environment: "live" }),
    reading_app_configured: canReadDocuments,
  };
}

/** Opens live beside the sandbox, permanently. The sandbox does not change. */
export async function goLive(
  { db, clock }: Pick<Core, "db" | "clock">,
  needs: GoLiveNeeds,
  caller: MemberCaller,
  { results = null }: { results?: ResultsWithoutEndpoint | null },
): Promise<void> {
  const now = clock.now();
  const { organizationId } = caller;
  await db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    if (organization === null) throw new ApiError("FORBIDDEN");
    if (organization.environment === "live") {
      throw new ApiError("LIVE_IS_OPEN");
    }
    const missing = whatIsMissing(await readGoLiveFacts(tx, organizationId, needs), results);
    if (missing.length > 0)
      throw new ApiError("ORGANIZATION_NOT_READY", { hint: `Missing: ${missing.join("; ")}.` });
    await setLive(tx, organizationId, now);
    await recordAct(tx, now, caller, {
      event: "organization.went_live",
      targetId: organizationId,
      details: { results: results ?? "webhooks" },
    });
  });
}
