import * as contract from "@assay/contract/organizations";
import { requireVerifiedEmail } from "../accounts/require-verified-email.ts";
import { actorOf, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { type Queryable, violates } from "../db/db.ts";
import { type Binding, bind } from "../http/mount.ts";
import { ApiError, badField } from "../kernel/api-error.ts";
import { newUuid } from "../kernel/ids.ts";
import { viewPage } from "../kernel/page.ts";
import { changeMemberRole, removeMember } from "./change-member.ts";
import { newDocumentIdKey } from "./document-id-key.ts";
import { listInvitations } from "./invitation.store.ts";
import { viewInvitation } from "./invitation.view.ts";
import {
  acceptInvitation,
  declineInvitation,
  inviteMember,
  readInvitation,
  revokeInvitation,
} from "./invite-member.ts";
import { insertMembership, listMembers } from "./member.store.ts";
import { viewMember } from "./member.view.ts";
import {
  insertOrganization,
  listOwnOrganizations,
  readOwnOrganization,
  setActiveOrganization,
  updateOrganization,
} from "./organization.store.ts";
import { viewOrganization } from "./organization.view.ts";

const urlFields = ["logo_url", "website_url", "privacy_url", "terms_url"] as const;

async function ownOrganization(db: Queryable, userId: string, organizationId: string) {
  const row = await readOwnOrganization(db, userId, organizationId);
  if (row === null) throw new ApiError("NOT_FOUND");
  return viewOrganization(row);
}

function slugTaken(error: unknown): unknown {
  return violates(error, "organizations_slug")
    ? new ApiError("CONFLICT", { message: "`slug` is taken.", hint: "Choose another slug." })
    : error;
}

export function organizationRoutes(core: Core): Binding[] {
  const { db, clock, ring } = core;
  return [
    bind(contract.createOrganization, async ({ caller, body }) => {
      await requireVerifiedEmail(core, caller);
      const now = clock.now();
      const id = newUuid(now);
      const name = body.name.trim();
      try {
        return await db.transaction(async (tx) => {
          const documentIdKey = newDocumentIdKey(ring, id);
          await insertOrganization(tx, { id, name, slug: body.slug, documentIdKey, now });
          await insertMembership(tx, id, caller.userId, "owner", now);
          await setActiveOrganization(tx, caller.userSessionId, id);
          await recordAudit(tx, now, {
            organizationId: id,
            event: "organization.created",
            actor: actorOf(caller),
            targetId: id,
            details: { name, slug: body.slug },
          });
          return ownOrganization(tx, caller.userId, id);
        });
      } catch (error) {
        throw slugTaken(error);
      }
    }),

    bind(contract.listOrganizations, ({ caller, query }) =>
      viewPage(listOwnOrganizations(db, caller.userId, query.limit, query.starting_after), viewOrganization),
    ),

    bind(contract.updateOrganization, async ({ caller, body }) => {
      const now = clock.now();
      const { organizationId } = caller;
      for (const field of urlFields) {
        const value = body[field];
        if (typeof value === "string" && !isPublicHttpsUrl(value))
          throw badField(field, "must be an https:// address without credentials");
      }
      try {
        return await db.transaction(async (tx) => {
          await updateOrganization(tx, organizationId, { ...body, name: body.name?.trim() }, now);
          await recordAudit(tx, now, {
            organizationId,
            event: "organization.updated",
            actor: actorOf(caller),
            targetId: organizationId,
            details: { ...body },
          });
          return ownOrganization(tx, caller.userId, organizationId);
        });
      } catch (error) {
        throw slugTaken(error);
      }
    }),

    bind(contract.setActiveOrganization, async ({ caller }) => {
      await setActiveOrganization(db, caller.userSessionId, caller.organizationId);
      return ownOrganization(db, caller.userId, caller.organizationId);
    }),

    bind(contract.listMembers, ({ caller, query }) =>
      viewPage(listMembers(db, caller.organizationId, query.limit, query.starting_after), viewMember),
    ),

    bind(contract.updateMember, async ({ caller, params, body }) =>
      viewMember(await changeMemberRole(core, caller, params.id, body.role)),
    ),

    bind(contract.removeMember, ({ caller, params }) => removeMember(core, caller, { id: params.id })),

    bind(contract.leaveOrganization, ({ caller }) => removeMember(core, caller, "self")),

    bind(contract.listInvitations, ({ caller, query }) =>
      viewPage(
        listInvitations(db, caller.organizationId, clock.now(), query.limit, query.starting_after),
        viewInvitation,
      ),
    ),

    bind(contract.createInvitation, async ({ caller, body }) =>
      viewInvitation(await inviteMember(core, caller, body)),
    ),

    bind(contract.revokeInvitation, ({ caller, params }) => revokeInvitation(core, caller, params.id)),

    bind(contract.readInvitation, async ({ params }) => {
      const invitation = await readInvitation(core, params.token);
      return {
        organization_name: invitation.organization_name,
        role: invitation.role,
        email: invitation.email,
        expires_at: invitation.expires_at.toISOString(),
      };
    }),

    bind(contract.acceptInvitation, async ({ caller, params }) =>
      viewOrganization(await acceptInvitation(core, caller, params.token)),
    ),

    bind(contract.declineInvitation, ({ params }) => declineInvitation(core, params.token)),
  ];
}

/** These addresses are shown to people who are being verified: nothing in them may mislead or carry a password. */
function isPublicHttpsUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === "https:" && url.username === "" && url.password === "";
}
