import type { MembershipId, UserId } from "@assay/contract/ids";
import { hasRole, mayInvite, type Role, roles } from "@assay/contract/route";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { environmentOf, type MemberCaller } from "../../platform/kernel/caller.ts";
import { quoted } from "../../platform/mails/mail.ts";
import { deleteInvitationsOf } from "./invitation.store.ts";
import { disableApiKeysOf } from "./made-by-member.store.ts";
import { mailOwners } from "./mail-owners.ts";
import { countOwners, deleteMembership, findMember, type MemberRow, setMemberRole } from "./member.store.ts";
import { type MemberRefusal, memberRefusal } from "./member.ts";
import { lockOrganization } from "./organization.store.ts";
import { notifyRightsChanged } from "./rights.store.ts";

const refusals: Record<MemberRefusal, () => ApiError> = {
  not_admin: () => new ApiError("ROLE_REQUIRED", { message: "This needs the role admin." }),
  owner_only: () =>
    new ApiError("ROLE_REQUIRED", {
      message: "Only an owner may change an owner or make one.",
      hint: "Ask an owner of the organization to do it.",
    }),
  last_owner: () => new ApiError("LAST_OWNER"),
};

/**
 * Finds the member and checks the change under the organization's lock. The caller's role is read again under
 * the lock, because it may have changed since the request was authenticated.
 */
async function permitted(
  tx: Tx,
  caller: MemberCaller,
  who: { id: MembershipId } | { userId: UserId },
  newRole: Role | null,
): Promise<MemberRow> {
  const { organizationId } = caller;
  await lockOrganization(tx, organizationId);
  const actor = await findMember(tx, organizationId, { userId: caller.userId });
  if (actor === null) throw new ApiError("FORBIDDEN");
  const target = await findMember(tx, organizationId, who);
  if (target === null) throw new ApiError("NOT_FOUND");
  const refusal = memberRefusal({
    actorRole: actor.role,
    isSelf: target.userId === caller.userId,
    targetRole: target.role,
    newRole,
    ownerCount: await countOwners(tx, organizationId),
  });
  if (refusal !== null) throw refusals[refusal]();
  return target;
}

export function changeMemberRole(
  core: Core,
  caller: MemberCaller,
  memberId: MembershipId,
  { role, disableKeys }: { role: Role; disableKeys: boolean },
): Promise<Changed> {
  const { db, clock } = core;
  const now = clock.now();
  const { organizationId } = caller;
  return db.transaction(async (tx) => {
    const member = await permitted(tx, caller, { id: memberId }, role);
    if (member.role === role && !disableKeys) return { member, disabled: 0 };
    const disabled = disableKeys ? await disableKeysOf(tx, now, caller, member) : 0;
    if (member.role !== role) {
      await setMemberRole(tx, organizationId, member.id, role, now);
      await recordAct(tx, now, caller, {
        event: "member.role_changed",
        targetId: member.userId,
        details: { from: member.role, to: role, ...keyCounts(member, disabled) },
      });
      await revokeInvitations(tx, now, caller, member.userId, role);
    }
    notifyRightsChanged(tx, organizationId);
    if (!hasRole(role, "admin")) await mailAboutKeys(core, tx, caller, member, disabled);
    return { member: { ...member, role, activeApiKeys: member.activeApiKeys - disabled }, disabled };
  });
}

export async function removeMember(
  core: Core,
  caller: MemberCaller,
  who: { id: MembershipId } | "self",
  disableKeys: boolean,
): Promise<Changed> {
  const { db, clock } = core;
  const now = clock.now();
  const { organizationId } = caller;
  return db.transaction(async (tx) => {
    const member = await permitted(tx, caller, who === "self" ? { userId: caller.userId } : who, null);
    const disabled = disableKeys ? await disableKeysOf(tx, now, caller, member) : 0;
    await deleteMembership(tx, organizationId, member.userId);
    await recordAct(tx, now, caller, {
      event: member.userId === caller.userId ? "member.left" : "member.removed",
      targetId: member.userId,
      details: { role: member.role, ...keyCounts(member, disabled) },
    });
    await revokeInvitations(tx, now, caller, member.userId, null);
    notifyRightsChanged(tx, organizationId);
    await mailAboutKeys(core, tx, caller, member, disabled);
    return { member: { ...member, activeApiKeys: member.activeApiKeys - disabled }, disabled };
  });
}

/** The member after the change, and the number of API keys that it disabled. */
type Changed = { member: MemberRow; disabled: number };

function keyCounts(member: MemberRow, disabled: number): Record<string, number> {
  return member.activeApiKeys === 0
    ? {}
    : { active_api_keys: member.activeApiKeys - disabled, disabled_api_keys: disabled };
}

async function disableKeysOf(tx: Tx, now: Date, caller: MemberCaller, member: MemberRow): Promise<number> {
  const disabled = await disableApiKeysOf(tx, caller.organizationId, member.userId, now);
  for (const key of disabled)
    await recordAct(tx, now, caller, {
      event: "api_key.updated",
      targetId: key.id,
      environment: environmentOf(key),
      details: { enabled: false, reason: "creator_lost_right" },
    });
  return disabled.length;
}

/** Keys outlive the membership of their creator, so owners are informed which of them still work. */
async function mailAboutKeys(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  caller: MemberCaller,
  member: MemberRow,
  disabled: number,
): Promise<void> {
  if (member.activeApiKeys === 0) return;
  await mailOwners(core, tx, caller.organizationId, {
    kind: "member_keys",
    fill: {
      person: quoted(member.name),
      email: member.email,
      disabled: String(disabled),
      active: String(member.activeApiKeys - disabled),
    },
    url: `${core.publicUrl()}/dashboard/api-keys`,
  });
}

/**
 * An invitation ends with the sender's right to send it. Otherwise a removed member could return through an
 * invitation to their own address.
 */
async function revokeInvitations(
  tx: Tx,
  now: Date,
  caller: MemberCaller,
  senderId: UserId,
  senderRole: Role | null,
): Promise<void> {
  const lost = roles.filter((role) => !mayInvite(senderRole, role));
  for (const { id, role } of await deleteInvitationsOf(tx, caller.organizationId, senderId, lost))
    await recordAct(tx, now, caller, {
      event: "invitation.revoked",
      targetId: id,
      details: { role, reason: "sender_lost_right" },
    });
}
