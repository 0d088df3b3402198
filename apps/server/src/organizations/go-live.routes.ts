import * as contract from "@assay/contract/go-live";
import { actorOf, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { type Binding, bind } from "../http/mount.ts";
import { ApiError } from "../kernel/api-error.ts";
import { changedText } from "./business-details.ts";
import {
  findAcceptance,
  insertAcceptance,
  readBusinessDetails,
  writeBusinessDetails,
} from "./go-live.store.ts";
import { type GoLiveNeeds, goLive } from "./go-live.ts";
import { viewBusinessDetails, viewRpTermsStatus } from "./go-live.view.ts";
import { lockOrganization, readOwnOrganization } from "./organization.store.ts";
import { viewOrganization } from "./organization.view.ts";

export function goLiveRoutes(core: Core, needs: GoLiveNeeds): Binding[] {
  const { db, clock } = core;
  const { terms } = needs;
  const termsStatus = async (organizationId: string) =>
    viewRpTermsStatus(await findAcceptance(db, organizationId, terms), terms);
  return [
    bind(contract.readBusinessDetails, async ({ caller }) =>
      viewBusinessDetails(await readBusinessDetails(db, caller.organizationId)),
    ),

    bind(contract.updateBusinessDetails, async ({ caller, body }) => {
      const now = clock.now();
      const { organizationId } = caller;
      const details = await db.transaction(async (tx) => {
        await lockOrganization(tx, organizationId);
        const current = await readBusinessDetails(tx, organizationId);
        const changed = {
          type: body.business_type === undefined ? current.type : (body.business_type ?? "sole"),
          name: changedText(current.name, body.business_name),
          jurisdiction: changedText(current.jurisdiction, body.business_jurisdiction),
          registrationNumber: changedText(current.registrationNumber, body.business_registration_number),
        };
        await writeBusinessDetails(tx, organizationId, changed, now);
        await recordAudit(tx, now, {
          organizationId,
          event: "business_details.updated",
          actor: actorOf(caller),
          targetId: organizationId,
          details: changed,
        });
        return changed;
      });
      return viewBusinessDetails(details);
    }),

    bind(contract.readRpTerms, ({ caller }) => termsStatus(caller.organizationId)),

    bind(contract.acceptRpTerms, async ({ caller, body }) => {
      const now = clock.now();
      const { organizationId } = caller;
      if (body.terms_version !== terms.version || body.terms_hash !== terms.hash) {
        throw new ApiError("CONFLICT", {
          message: "These are not the current terms.",
          hint: "Read GET /v1/auth/orgs/rp-terms/text again and accept what it shows.",
        });
      }
      await db.transaction(async (tx) => {
        if (!(await insertAcceptance(tx, organizationId, terms, caller.userId, now))) return;
        await recordAudit(tx, now, {
          organizationId,
          event: "rp_terms.accepted",
          actor: actorOf(caller),
          targetId: organizationId,
          details: { terms_version: terms.version, terms_hash: terms.hash },
        });
      });
      return termsStatus(organizationId);
    }),

    bind(contract.readRpTermsText, async () => ({
      jurisdiction: terms.jurisdiction,
      terms_version: terms.version,
      terms_hash: terms.hash,
      text: terms.text,
    })),

    bind(contract.goLive, async ({ caller }) => {
      await goLive(core, needs, caller);
      const own = await readOwnOrganization(db, caller.userId, caller.organizationId);
      if (own === null) throw new ApiError("FORBIDDEN");
      return viewOrganization(own);
    }),
  ];
}
