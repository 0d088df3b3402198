import type { EmailParts, FoldedEmail } from "@assay/contract/email";
import type { InvitationId, OrganizationId, UserId } from "@assay/contract/ids";
import { mayInvite, type Role } from "@assay/contract/route";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { violates } from "../../platform/db/errors.ts";
import { beyondCursor, readPage } from "../../platform/db/page.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { noSql, sql } from "../../platform/db/sql.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type InvitationRow = {
  id: InvitationId;
  organizationId: OrganizationId;
  email: string;
  role: Role;
  invitedBy: UserId | null;
  expiresAt: Date;
  createdAt: Date;
};

const columns = sql`i.id, i.organization_id, i.email, i.role, i.invited_by, i.expires_at, i.created_at`;

/** Replaces an earlier invitation of the same address, whose link then no longer works. */
export async function insertInvitation(
  tx: Tx,
  invitation: Pick<InvitationRow, "id" | "organizationId" | "role" | "expiresAt"> & {
    email: EmailParts;
    tokenHash: Buffer;
    invitedBy: UserId;
    now: Date;
  },
): Promise<InvitationRow> {
  await tx.run(sql`
    delete from invitations
    where organization_id = ${invitation.organizationId} and email_folded = ${invitation.email.folded}`);
  return tx.one<InvitationRow>(sql`
    insert into invitations as i (id, organization_id, email, email_folded, role, token_hash, invited_by, expires_at, created_at)
    values (${invitation.id}, ${invitation.organizationId}, ${invitation.email.address}, ${invitation.email.folded},
      ${invitation.role}, ${invitation.tokenHash}, ${invitation.invitedBy}, ${invitation.expiresAt}, ${invitation.now})
    returning ${columns}`);
}

export function listInvitations(
  db: Queryable,
  organizationId: OrganizationId,
  now: Date,
  page: PageStart<InvitationId> & { limit: number },
) {
  return readPage<InvitationRow>(db, {
    ...page,
    cursorExists: (id) =>
      sql`select 1 from invitations where organization_id = ${organizationId} and id = ${id}`,
    rowsAfter: (count) => sql`
        select ${columns} from invitations i
        where i.organization_id = ${organizationId} and i.expires_at > ${now} ${beyondCursor(page, sql`i.id`)}
        order by i.id desc limit ${count}`,
  });
}

export function findInvitation(
  tx: Tx,
  organizationId: OrganizationId,
  id: InvitationId,
  now: Date,
): Promise<InvitationRow | null> {
  return tx.first<InvitationRow>(sql`
    select ${columns} from invitations i
    where i.organization_id = ${organizationId} and i.id = ${id} and i.expires_at > ${now}`);
}

export function findInvitationByToken(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<(InvitationRow & { organizationName: string }) | null> {
  return db.first(sql`
    select ${columns}, o.name as organization_name
    from invitations i join organizations o on o.id = i.organization_id
    where i.token_hash = ${tokenHash} and i.expires_at > ${now}`);
}

/** Whether any organization has an invitation to this address that would be accepted now. */
export async function isInvited(db: Queryable, email: FoldedEmail, now: Date): Promise<boolean> {
  const rows = await db.rows<{ role: Role; senderRole: Role | null }>(sql`
    select i.role, m.role as sender_role
    from invitations i
    join organizations o on o.id = i.organization_id and o.pending_deletion_at is null
    left join memberships m on m.organization_id = i.organization_id and m.user_id = i.invited_by
    where i.email_folded = ${email} and i.expires_at > ${now}`);
  return rows.some((row) => mayInvite(row.senderRole, row.role));
}

/** False if the invitation was used or revoked meanwhile. */
export async function deleteInvitation(
  tx: Tx,
  organizationId: OrganizationId,
  id: InvitationId,
): Promise<boolean> {
  const deleted = await tx.run(
    sql`delete from invitations where organization_id = ${organizationId} and id = ${id}`,
  );
  return deleted === 1;
}

export type UnfoldedInvitationRow = { id: InvitationId; organizationId: OrganizationId; email: string };

export function findUnfoldedInvitation(db: Queryable, id: string): Promise<UnfoldedInvitationRow | null> {
  return db.first<UnfoldedInvitationRow>(sql`
    select id, organization_id, email from invitations where id = ${id} and email_folded is null`);
}

/** Invitations without a folded address, newest first: of two that fold alike the later one counts. */
export function listUnfoldedInvitations(
  db: Queryable,
  before: InvitationId | null,
  limit: number,
): Promise<UnfoldedInvitationRow[]> {
  return db.rows(sql`
    select id, organization_id, email from invitations
    where email_folded is null ${before === null ? noSql : sql`and id < ${before}`} order by id desc limit ${limit}`);
}

/** False if another invitation of the organization has the address. */
export async function setFoldedInvitation(
  db: Queryable,
  organizationId: OrganizationId,
  id: InvitationId,
  folded: FoldedEmail,
): Promise<boolean> {
  try {
    const set = await db.run(sql`
      update invitations set email_folded = ${folded} where organization_id = ${organizationId} and id = ${id}`);
    return set === 1;
  } catch (error) {
    if (violates(error, "invitations_email_folded")) return false;
    throw error;
  }
}

/** Revokes invitations of this member for these roles, and returns them. */
export function deleteInvitationsOf(
  tx: Tx,
  organizationId: OrganizationId,
  invitedBy: UserId,
  invitedRoles: readonly Role[],
): Promise<{ id: InvitationId; role: Role }[]> {
  return tx.rows(sql`
    delete from invitations
    where organization_id = ${organizationId} and invited_by = ${invitedBy} and role = any(${invitedRoles}::text[])
    returning id, role`);
}

export function expiredInvitations(now: Date): Expired {
  return { table: "invitations", key: "id", type: "uuid", due: sql`expires_at <= ${now}`, owned: true };
}
