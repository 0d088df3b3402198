import * as contract from "@assay/contract/domains";
import { actorOf, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { Also, type Binding, bind } from "../http/mount.ts";
import { ApiError } from "../kernel/api-error.ts";
import { viewPage } from "../kernel/page.ts";
import { allowRedirect } from "./allow-redirect.ts";
import { deleteDomain, listActiveChallenges, listDomains } from "./domain.store.ts";
import { viewChallenge, viewDomain, viewRedirectUri } from "./domain.view.ts";
import { deleteRedirectUri, listRedirectUris } from "./redirect-uri.store.ts";
import { startChallenge, verifyDomain } from "./verify-domain.ts";

export function domainRoutes(core: Core): Binding[] {
  const { db, clock } = core;
  return [
    bind(contract.listDomains, async ({ caller }) => ({
      domains: (await listDomains(db, caller.organizationId)).map(viewDomain),
      challenges: (await listActiveChallenges(db, caller.organizationId, clock.now())).map(viewChallenge),
    })),

    bind(contract.startDomainChallenge, ({ caller, body }) => startChallenge(core, caller, body.apex_domain)),

    bind(contract.verifyDomain, ({ caller, body }) =>
      verifyDomain(core, caller, {
        challengeId: body.challenge_id,
        acknowledgeTakeover: body.acknowledge_takeover ?? false,
      }),
    ),

    bind(contract.removeDomain, async ({ caller, params }) => {
      const now = clock.now();
      const { organizationId } = caller;
      await db.transaction(async (tx) => {
        const removed = await deleteDomain(tx, organizationId, params.id);
        if (removed === null) throw new ApiError("NOT_FOUND");
        await recordAudit(tx, now, {
          organizationId,
          event: "domain.removed",
          actor: actorOf(caller),
          targetId: params.id,
          details: { apex_domain: removed.apex_domain },
        });
      });
    }),

    bind(contract.createRedirectUri, async ({ caller, body }) => {
      const { row, created } = await allowRedirect(core, caller, body.pattern);
      return created ? viewRedirectUri(row) : new Also(viewRedirectUri(row));
    }),

    bind(contract.listRedirectUris, ({ caller, query }) =>
      viewPage(
        listRedirectUris(db, caller.organizationId, query.limit, query.starting_after),
        viewRedirectUri,
      ),
    ),

    bind(contract.deleteRedirectUri, async ({ caller, params }) => {
      const now = clock.now();
      const { organizationId } = caller;
      await db.transaction(async (tx) => {
        const removed = await deleteRedirectUri(tx, organizationId, params.id);
        if (removed === null) throw new ApiError("NOT_FOUND");
        await recordAudit(tx, now, {
          organizationId,
          event: "redirect_uri.deleted",
          actor: actorOf(caller),
          targetId: params.id,
          details: { pattern: removed.pattern },
        });
      });
    }),
  ];
}
