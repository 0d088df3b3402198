import * as logoContract from "@assay/contract/organization-logo";
import * as contract from "@assay/contract/organizations";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import { deleteLogo, uploadLogo } from "./change-logo.ts";
import { changeMemberRole, removeMember } from "./change-member.ts";
import { listInvitations } from "./invitation.store.ts";
import { viewInvitation } from "./invitation.view.ts";
import {
  acceptInvitation,
  declineInvitation,
  inviteMember,
  readInvitation,
  revokeInvitation,
} from "./invite-member.ts";
import { changeOrganization, createOrganization, selectOrganization } from "./manage-organization.ts";
import { listMembers } from "./member.store.ts";
import { viewMade, viewMember } from "./member.view.ts";
import { listOwnOrganizations } from "./organization.store.ts";
import { viewOrganization } from "./organization.view.ts";
import { type FetchLogo, showLogo } from "./show-logo.ts";

export function organizationRoutes(core: Core, fetchLogo: FetchLogo): Binding[] {
  const { db, clock } = core;
  return [
    bind(contract.createOrganization, async ({ caller, body }) =>
      viewOrganization(await createOrganization(core, caller, body)),
    ),

    bind(contract.listOrganizations, ({ caller, query }) =>
      viewPage(listOwnOrganizations(db, caller.userId, parsePage(query)), viewOrganization),
    ),

    bind(contract.updateOrganization, async ({ caller, body }) =>
      viewOrganization(await changeOrganization(core, caller, body)),
    ),

    bind(logoContract.uploadLogo, async ({ caller, body }) =>
      viewOrganization(await uploadLogo(core, caller, body)),
    ),

    bind(logoContract.readLogo, ({ caller }) => showLogo(core, caller, fetchLogo)),

    bind(logoContract.deleteLogo, ({ caller }) => deleteLogo(core, caller)),

    bind(contract.setActiveOrganization, async ({ caller }) =>
      viewOrganization(await selectOrganization(core, caller)),
    ),

    bind(contract.listMembers, ({ caller, query }) =>
      viewPage(listMembers(db, caller.organizationId, parsePage(query)), viewMember),
    ),

    bind(contract.updateMember, async ({ caller, params, body }) => {
      const { member, disabled } = await changeMemberRole(core, caller, params.id, {
        role: body.role,
        disableKeys: body.disable_keys ?? false,
      });
      return { ...viewMember(member), disabled_api_keys: disabled };
    }),

    bind(contract.removeMember, async ({ caller, params, query }) => {
      const disableKeys = query.disable_keys ?? false;
      const { member, disabled } = await removeMember(core, caller, { id: params.id }, disableKeys);
      return {
        id: member.id,
        user_id: member.userId,
        made: viewMade(member),
        disabled_api_keys: disabled,
      };
    }),

    bind(contract.leaveOrganization, async ({ caller }) => {
      await removeMember(core, caller, "self", false);
    }),

    bind(contract.listInvitations, ({ caller, query }) =>
      viewPage(listInvitations(db, caller.organizationId, clock.now(), parsePage(query)), viewInvitation),
    ),

    bind(contract.createInvitation, async ({ caller, body }) =>
      viewInvitation(await inviteMember(core, caller, body)),
    ),

    bind(contract.revokeInvitation, ({ caller, params }) => revokeInvitation(core, caller, params.id)),

    bind(contract.readInvitation, async ({ params }) => {
      const invitation = await readInvitation(core, params.token);
      return {
        organization_name: invitation.organizationName,
        role: invitation.role,
        email: invitation.email,
        expires_at: invitation.expiresAt.toISOString(),
      };
    }),

    bind(contract.acceptInvitation, async ({ caller, params }) =>
      viewOrganization(await acceptInvitation(core, caller, params.token)),
    ),

    bind(contract.declineInvitation, ({ params }) => declineInvitation(core, params.token)),
  ];
}
