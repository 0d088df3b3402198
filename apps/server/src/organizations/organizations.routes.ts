import * as contract from "@assay/contract/organizations";
import { requireVerifiedEmail } from "../accounts/require-verified-email.ts";
import { actorOf, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { violates } from "../db/db.ts";
import { ApiError } from "../http/api-error.ts";
import { type Binding, bind } from "../http/mount.ts";
import { newUuid } from "../lib/ids.ts";
import { insertMembership, insertOrganization, setActiveOrganization } from "./organization.store.ts";

export function organizationRoutes(core: Core): Binding[] {
  const { db, clock } = core;
  return [
    bind(contract.createOrganization, async ({ caller, body }) => {
      await requireVerifiedEmail(core, caller);
      const now = clock.now();
      try {
        return await db.transaction(async (tx) => {
          const organization = await insertOrganization(tx, {
            id: newUuid(now),
            name: body.name.trim(),
            slug: body.slug,
            now,
          });
          await insertMembership(tx, organization.id, caller.userId, "owner", now);
          await setActiveOrganization(tx, caller.userSessionId, organization.id);
          await recordAudit(tx, now, {
            organizationId: organization.id,
            event: "organization.created",
            actor: actorOf(caller),
            targetId: organization.id,
            details: { name: organization.name, slug: organization.slug },
          });
          return organization;
        });
      } catch (error) {
        if (violates(error, "organizations_slug"))
          throw new ApiError("CONFLICT", { message: "`slug` is taken." });
        throw error;
      }
    }),
  ];
}
