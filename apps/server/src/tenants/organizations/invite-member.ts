import { type FoldedEmail, foldEmail } from "@assay/contract/email";
import type { InvitationId } from "@assay/contract/ids";
import { hasRole, mayInvite, type Role } from "@assay/contract/route";
import {
  type Actor,
  actorOf,
  personActor,
  recordAct,
  recordAudit,
} from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { violates } from "../../platform/db/errors.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller, UserCaller } from "../../platform/kernel/caller.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { requireEmail } from "../../platform/kernel/email.ts";
import { hashToken, newToken, newUuid } from "../../platform/kernel/ids.ts";
import { quoted } from "../../platform/mails/mail.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { countOfDay } from "../accounts/limit-guesses.ts";
import { requireVerifiedEmail } from "../accounts/require-verified-email.ts";
import {
  deleteInvitation,
  findInvitation,
  findInvitationByToken,
  type InvitationRow,
  insertInvitation,
} from "./invitation.store.ts";
import { ownOrganization } from "./manage-organization.ts";
import { findMember, insertMembership, isMemberAddress } from "./member.store.ts";
import { lockOrganization, type OwnOrganizationRow, setActiveOrganization } from "./organization.store.ts";

const invitationLifetimeMs = 7 * dayMs;

function notFound(): ApiError {
  return new ApiError("NOT_FOUND", {
    message: "This invitation no longer exists.",
    hint: "It may have been used, revoked or replaced, or be older than 7 days. Ask for a new one.",
  });
}

function ownerOnly(): ApiError {
  return new ApiError("ROLE_REQUIRED", {
    message: "Only an owner may invite an owner.",
    hint: "Ask an owner of the organization to do it.",
  });
}

/**
 * The service mails a chosen name to any invited address, so both are limited. Organizations get 409: 429 is
 * for signing in.
 */
async function countInvitation(
  core: Pick<Core, "config" | "clock" | "ring">,
  tx: Tx,
  { organizationId, userId }: MemberCaller,
  email: FoldedEmail,
): Promise<void> {
  const { invitationsPerDay, invitationsPerRecipient } = core.config;
  const refusal = await countOfDay(core, tx, [
    { what: ["invitations of", organizationId], limit: invitationsPerDay },
    { what: ["invitations to", email], limit: invitationsPerRecipient },
    { what: ["invitations by", userId], limit: invitationsPerDay },
  ]);
  if (refusal === null) return;
  const [sent, limit] = [
    ["by this organization", `An organization may send ${invitationsPerDay}`],
    ["to `email`", `An address gets ${invitationsPerRecipient}`],
    ["by you", `A person may send ${invitationsPerDay}, in all their organizations together,`],
  ][refusal] ?? ["", ""];
  throw new ApiError("CONFLICT", {
    message: `Too many invitations were sent today ${sent}.`,
    hint: `${limit} a day. Try again tomorrow (UTC).`,
  });
}

export async function inviteMember(
  core: Core,
  caller: MemberCaller,
  invitation: { email: string; role: Role },
): Promise<InvitationRow> {
  const { db, clock } = core;
  const email = requireEmail("email", invitation.email);
  const now = clock.now();
  const { organizationId } = caller;
  const token = newToken();
  const invite = async (tx: Tx) => {
    const organization = await lockOrganization(tx, organizationId);
    const actor = await findMember(tx, organizationId, { userId: caller.userId });
    if (organization === null || actor === null || !hasRole(actor.role, "admin"))
      throw new ApiError("FORBIDDEN");
    if (!mayInvite(actor.role, invitation.role)) throw ownerOnly();
    await countInvitation(core, tx, caller, email.folded);
    if (await isMemberAddress(tx, organizationId, email.folded)) {
      throw new ApiError("ALREADY_MEMBER", {
        message: "`email` is already the address of a member.",
        hint: "Change the member's role instead.",
      });
    }
    const row = await insertInvitation(tx, {
      id: newUuid(now),
      organizationId,
      email,
      role: invitation.role,
      tokenHash: hashToken(token),
      invitedBy: caller.userId,
      expiresAt: later(now, invitationLifetimeMs),
      now,
    });
    await recordAct(tx, now, caller, {
      event: "invitation.created",
      targetId: row.id,
      details: { role: row.role },
    });
    await queueMail(
      core,
      tx,
      {
        to: row.email,
        organization: { id: organizationId, name: organization.name },
        elseAs: caller.email,
      },
      {
        kind: "invitation",
        fill: {
          inviter: quoted(caller.name),
          email: caller.email,
          organization: quoted(organization.name),
          role: row.role,
        },
        url: `${core.publicUrl()}/invitations/${token}`,
      },
    );
    return row;
  };
  try {
    return await db.transaction(invite);
  } catch (error) {
    if (!violates(error, "invitations_address")) throw error;
    throw new ApiError("INVITATION_EXISTS");
  }
}

export async function revokeInvitation(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
  id: InvitationId,
): Promise<void> {
  const now = clock.now();
  const { organizationId } = caller;
  await db.transaction(async (tx) => {
    const invitation = await findInvitation(tx, organizationId, id, now);
    if (invitation === null) throw new ApiError("NOT_FOUND");
    if (invitation.role === "owner" && caller.role !== "owner") {
      throw new ApiError("ROLE_REQUIRED", {
        message: "Only an owner may revoke the invitation of an owner.",
      });
    }
    if (!(await deleteInvitation(tx, organizationId, id))) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "invitation.revoked",
      targetId: id,
      details: { role: invitation.role },
    });
  });
}

export async function readInvitation({ db, clock }: Pick<Core, "db" | "clock">, token: string) {
  const invitation = await findInvitationByToken(db, hashToken(token), clock.now());
  if (invitation === null) throw notFound();
  return invitation;
}

/** An account whose address was set aside can only accept invitations to exactly the same text. */
function isFor(caller: UserCaller, invited: string): boolean {
  const folded = foldEmail(invited);
  return folded === null ? invited === caller.email : folded === caller.foldedEmail;
}

/**
 * Checked under the organization's lock: invitations are revoked with the right to send them, but one from an
 * earlier version may still exist.
 */
async function senderMayStillInvite(tx: Tx, invitation: InvitationRow): Promise<boolean> {
  const { organizationId, invitedBy: userId } = invitation;
  const sender = userId === null ? null : await findMember(tx, organizationId, { userId });
  return mayInvite(sender?.role ?? null, invitation.role);
}

export async function acceptInvitation(
  core: Pick<Core, "config" | "db" | "clock">,
  caller: UserCaller,
  token: string,
): Promise<OwnOrganizationRow> {
  const { db, clock } = core;
  await requireVerifiedEmail(core, caller);
  const now = clock.now();
  return db.transaction(async (tx) => {
    const invitation = await findInvitationByToken(tx, hashToken(token), now);
    if (invitation === null) throw notFound();
    if (!isFor(caller, invitation.email)) {
      throw new ApiError("INVITATION_FOR_ANOTHER_EMAIL");
    }
    const { organizationId } = invitation;
    const organization = await lockOrganization(tx, organizationId);
    if (organization === null || !(await senderMayStillInvite(tx, invitation))) throw notFound();
    if (!(await deleteInvitation(tx, organizationId, invitation.id))) throw notFound();
    if (organization.pendingDeletionAt !== null) throw new ApiError("ORGANIZATION_FROZEN");
    if (!(await insertMembership(tx, organizationId, caller.userId, invitation.role, now))) {
      throw new ApiError("ALREADY_MEMBER", { message: "You are already a member of this organization." });
    }
    await setActiveOrganization(tx, organizationId, caller.userSessionId);
    await recordAudit(tx, now, {
      environment: null,
      organizationId,
      actor: actorOf(caller),
      event: "invitation.accepted",
      targetId: invitation.id,
      details: { role: invitation.role },
    });
    return ownOrganization(tx, organizationId, caller.userId);
  });
}

/** Declining needs the link but no account, so the audit log cannot name the person. */
export async function declineInvitation(
  { db, clock }: Pick<Core, "db" | "clock">,
  token: string,
): Promise<void> {
  const now = clock.now();
  const actor: Actor = personActor;
  await db.transaction(async (tx) => {
    const invitation = await findInvitationByToken(tx, hashToken(token), now);
    if (invitation === null || !(await deleteInvitation(tx, invitation.organizationId, invitation.id)))
      throw notFound();
    await recordAudit(tx, now, {
      environment: null,
      organizationId: invitation.organizationId,
      event: "invitation.declined",
      actor,
      targetId: invitation.id,
      details: { role: invitation.role },
    });
  });
}
