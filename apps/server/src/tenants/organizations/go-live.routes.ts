import * as contract from "@assay/contract/go-live";
import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { acceptTerms } from "./accept-terms.ts";
import { changeBusinessDetails } from "./change-business-details.ts";
import { findAcceptance, readBusinessDetails } from "./go-live.store.ts";
import { type GoLiveNeeds, goLive, readGoLiveFacts } from "./go-live.ts";
import { viewBusinessDetails, viewReadiness, viewRpTermsStatus } from "./go-live.view.ts";
import { ownOrganization } from "./manage-organization.ts";
import { viewOrganization } from "./organization.view.ts";

export function goLiveRoutes(core: Pick<Core, "db" | "clock" | "publicUrl">, needs: GoLiveNeeds): Binding[] {
  const { db } = core;
  const { terms } = needs;
  const termsStatus = async (organizationId: OrganizationId) =>
    viewRpTermsStatus(
      await findAcceptance(db, organizationId, terms),
      terms,
      await needs.hasTrustedAuthority(db),
    );
  return [
    bind(contract.readBusinessDetails, async ({ caller }) =>
      viewBusinessDetails(await readBusinessDetails(db, caller.organizationId)),
    ),

    bind(contract.updateBusinessDetails, async ({ caller, body }) =>
      viewBusinessDetails(await changeBusinessDetails(core, caller, body)),
    ),

    bind(contract.readRpTerms, ({ caller }) => termsStatus(caller.organizationId)),

    bind(contract.acceptRpTerms, async ({ caller, body }) => {
      await acceptTerms(core, terms, caller, body);
      return termsStatus(caller.organizationId);
    }),

    bind(contract.readRpTermsText, async () => ({
      jurisdiction: terms.jurisdiction,
      terms_version: terms.version,
      terms_hash: terms.hash,
      text: terms.text,
    })),

    bind(contract.readGoLive, async ({ caller }) => {
      const own = await ownOrganization(db, caller.organizationId, caller.userId);
      return viewReadiness(own, await readGoLiveFacts(db, caller.organizationId, needs), core.publicUrl());
    }),

    bind(contract.goLive, async ({ caller, body }) => {
      await goLive(core, needs, caller, body);
      const own = await ownOrganization(db, caller.organizationId, caller.userId);
      return viewOrganization(own);
    }),
  ];
}
