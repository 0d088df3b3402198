import * as contract from "@assay/contract/domains";
import type { Core } from "../../platform/core.ts";
import { AlternateStatus, type Binding, bind } from "../../platform/http/mount.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import type { NameLookups } from "../../platform/lib/name-lookups.ts";
import { listActiveChallenges, listDomains } from "./domain.store.ts";
import { viewChallenge, viewDomain, viewRedirectUri } from "./domain.view.ts";
import { allowRedirect, disallowRedirect } from "./manage-redirect.ts";
import { listRedirectUris } from "./redirect-uri.store.ts";
import { removeDomain } from "./remove-domain.ts";
import { startChallenge, verifyDomain } from "./verify-domain.ts";

export function domainRoutes(core: Core, lookups: NameLookups): Binding[] {
  const { db, clock } = core;
  return [
    bind(contract.listDomains, async ({ caller }) => ({
      domains: (await listDomains(db, caller.organizationId)).map(viewDomain),
      challenges: (await listActiveChallenges(db, caller.organizationId, clock.now())).map(viewChallenge),
    })),

    bind(contract.startDomainChallenge, ({ caller, body }) => startChallenge(core, caller, body.apex_domain)),

    bind(contract.verifyDomain, ({ caller, body }) =>
      verifyDomain(core, lookups, caller, {
        challengeId: body.challenge_id,
        acknowledgeTakeover: body.acknowledge_takeover ?? false,
      }),
    ),

    bind(contract.removeDomain, ({ caller, params }) => removeDomain(core, caller, params.id)),

    bind(contract.createRedirectUri, async ({ caller, body }) => {
      const { row, created } = await allowRedirect(core, caller, body.pattern);
      return created ? viewRedirectUri(row) : new AlternateStatus(viewRedirectUri(row));
    }),

    bind(contract.listRedirectUris, ({ caller, query }) =>
      viewPage(listRedirectUris(db, caller.organizationId, parsePage(query)), viewRedirectUri),
    ),

    bind(contract.deleteRedirectUri, ({ caller, params }) => disallowRedirect(core, caller, params.id)),
  ];
}
