import type { FoldedEmail } from "@assay/contract/email";
import type { MembershipId, OrganizationId, UserId } from "@assay/contract/ids";
import type { Role } from "@assay/contract/route";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { beyondCursor, readPage } from "../../platform/db/page.ts";
import { sql } from "../../platform/db/sql.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import type { PageStart } from "../../platform/kernel/page.ts";
import { type MadeCounts, madeColumns } from "./made-by-member.store.ts";

export type MemberRow = {
  id: MembershipId;
  userId: UserId;
  name: string;
  email: string;
  role: Role;
  createdAt: Date;
} & MadeCounts;

const columns = sql`m.id, m.user_id, u.name, u.email, m.role, m.created_at, ${madeColumns}`;

/** False if the user is already a member. */
export async function insertMembership(
  tx: Tx,
  organizationId: OrganizationId,
  userId: UserId,
  role: Role,
  now: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into memberships (id, organization_id, user_id, role, created_at, updated_at)
    values (${newUuid(now)}, ${organizationId}, ${userId}, ${role}, ${now}, ${now})
    on conflict (organization_id, user_id) do nothing`);
  return inserted === 1;
}

export function listMembers(
  db: Queryable,
  organizationId: OrganizationId,
  page: PageStart<MembershipId> & { limit: number },
) {
  return readPage<MemberRow>(db, {
    ...page,
    cursorExists: (id) =>
      sql`select 1 from memberships where organization_id = ${organizationId} and id = ${id}`,
    rowsAfter: (count) => sql`
        select ${columns} from memberships m join users u on u.id = m.user_id
        where m.organization_id = ${organizationId} ${beyondCursor(page, sql`m.id`)}
        order by m.id desc limit ${count}`,
  });
}

/**
 * Members with this text in their e-mail or name, ignoring case. Scans all members; an organization has few.
 */
export function searchMembers(
  db: Queryable,
  organizationId: OrganizationId,
  text: string,
  limit: number,
): Promise<MemberRow[]> {
  return db.rows<MemberRow>(sql`
    select ${columns} from memberships m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId}
      and (position(${text.toLowerCase()} in u.email_folded) > 0
        or u.name ilike ${`%${text.replace(/[\\%_]/g, "\\$&")}%`})
    order by m.id desc limit ${limit}`);
}

export function findMember(
  db: Queryable,
  organizationId: OrganizationId,
  who: { id: MembershipId } | { userId: UserId },
): Promise<MemberRow | null> {
  return db.first<MemberRow>(sql`
    select ${columns} from memberships m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId}
      and ${"id" in who ? sql`m.id = ${who.id}` : sql`m.user_id = ${who.userId}`}`);
}

export async function isMemberAddress(
  db: Queryable,
  organizationId: OrganizationId,
  email: FoldedEmail,
): Promise<boolean> {
  const found = await db.first(sql`
    select 1 from memberships m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId} and u.email_folded = ${email}`);
  return found !== null;
}

/** Call this only under the organization's lock; otherwise the result may be outdated. */
export async function countOwners(tx: Tx, organizationId: OrganizationId): Promise<number> {
  const { count } = await tx.one<{ count: number }>(
    sql`select count(*) as count from memberships where organization_id = ${organizationId} and role = 'owner'`,
  );
  return count;
}

export async function setMemberRole(
  tx: Tx,
  organizationId: OrganizationId,
  id: MembershipId,
  role: Role,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update memberships set role = ${role}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id}`);
}

/** Ends the membership. Sign-in sessions with this organization as the active one lose it. */
export async function deleteMembership(
  tx: Tx,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<void> {
  await tx.run(sql`
    update user_sessions set active_organization_id = null
    where user_id = ${userId} and active_organization_id = ${organizationId}`);
  await tx.run(
    sql`delete from memberships where organization_id = ${organizationId} and user_id = ${userId}`,
  );
}

export function listOwners(
  db: Queryable,
  organizationId: OrganizationId,
): Promise<{ userId: UserId; name: string; email: string; organizationName: string }[]> {
  return db.rows(sql`
    select m.user_id, u.name, u.email, o.name as organization_name
    from memberships m join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
    where m.organization_id = ${organizationId} and m.role = 'owner' order by m.id`);
}
