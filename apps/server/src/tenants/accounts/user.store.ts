import type { EmailParts, FoldedEmail } from "@assay/contract/email";
import type { MailLanguage } from "@assay/contract/facts";
import type { InvitationId, OrganizationId, UserId, UserSessionId } from "@assay/contract/ids";
import type { Role } from "@assay/contract/route";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { violates } from "../../platform/db/errors.ts";
import { beyondCursor, readPage } from "../../platform/db/page.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { sql } from "../../platform/db/sql.ts";
import type { Membership } from "../../platform/kernel/caller.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type UserRow = {
  id: UserId;
  name: string;
  email: string;
  emailFolded: FoldedEmail | null;
  emailVerifiedAt: Date | null;
  passwordHash: string | null;
  language: MailLanguage | null;
  createdAt: Date;
};

const columns = sql`id, name, email, email_folded, email_verified_at, password_hash, language, created_at`;

export function insertUser(
  tx: Tx,
  user: Pick<UserRow, "id" | "name" | "passwordHash" | "language" | "emailVerifiedAt"> & {
    email: EmailParts;
    now: Date;
  },
): Promise<UserRow> {
  return tx.one<UserRow>(sql`
    insert into users (id, name, email, email_folded, email_verified_at, password_hash, language, created_at, updated_at)
    values (${user.id}, ${user.name}, ${user.email.address}, ${user.email.folded}, ${user.emailVerifiedAt}, ${user.passwordHash},
      ${user.language}, ${user.now}, ${user.now})
    returning ${columns}`);
}

export function findUserByEmail(db: Queryable, email: FoldedEmail): Promise<UserRow | null> {
  return db.first<UserRow>(sql`select ${columns} from users where email_folded = ${email}`);
}

/**
 * Whether a statement failed because another account has the address. The older index may refuse what the
 * newer one allows: an old address that the database folds to this one.
 */
export function isTakenEmail(error: unknown): boolean {
  return violates(error, "users_email_folded") || violates(error, "users_email");
}

export function findUserById(db: Queryable, id: UserId): Promise<UserRow | null> {
  return db.first<UserRow>(sql`select ${columns} from users where id = ${id}`);
}

export function lockUser(tx: Tx, id: UserId): Promise<UserRow | null> {
  return tx.first<UserRow>(sql`select ${columns} from users where id = ${id} for update`);
}

/** `language`: null leaves it unchanged. */
export async function setProfile(
  db: Queryable,
  id: UserId,
  { name, language }: { name: string; language: MailLanguage | null },
  now: Date,
): Promise<void> {
  await db.run(sql`
    update users set name = ${name}, language = coalesce(${language}, language), updated_at = ${now} where id = ${id}`);
}

/** Sets the mail language of an account that was created without one. A chosen language stays. */
export async function setFirstLanguage(tx: Tx, id: UserId, language: MailLanguage): Promise<void> {
  await tx.run(sql`update users set language = ${language} where id = ${id} and language is null`);
}

export async function setPasswordHash(
  tx: Tx,
  id: UserId,
  passwordHash: string | null,
  now: Date,
): Promise<void> {
  await tx.run(sql`update users set password_hash = ${passwordHash}, updated_at = ${now} where id = ${id}`);
}

/** Sets an address that its owner has proven or the operator vouches for. */
export async function setVerifiedEmail(tx: Tx, id: UserId, email: EmailParts, now: Date): Promise<void> {
  await tx.run(sql`
    update users set email = ${email.address}, email_folded = ${email.folded}, email_set_aside_at = null,
      email_verified_at = ${now}, updated_at = ${now}
    where id = ${id}`);
}

/** Records that the owner has proven the current address. */
export async function markEmailVerified(tx: Tx, id: UserId, now: Date): Promise<void> {
  await tx.run(sql`update users set email_verified_at = ${now}, updated_at = ${now} where id = ${id}`);
}

/**
 * One process at a time, so that timing does not decide which of two accounts gets an address that both fold
 * to.
 */
export async function lockFolding(db: Queryable): Promise<void> {
  await db.rows(sql`select pg_advisory_xact_lock(hashtextextended('fold emails', 0))`);
}

export type UnfoldedEmailRow = { id: UserId; email: string };

/**
 * Accounts without a folded address, from an earlier version. Of two that fold alike, the first in this order
 * gets it: proven before unproven, plain ASCII before other, then the older one.
 */
export function listUnfoldedEmails(db: Queryable, among: Among): Promise<UnfoldedEmailRow[]> {
  return db.rows<UnfoldedEmailRow>(sql`
    select id, email from users
    where email_folded is null and email_set_aside_at is null and ${among.where(sql`id`, "uuid")}
    order by email_verified_at is null, octet_length(email) <> char_length(email), id limit ${among.limit} for update`);
}

/** False if another account has it. */
export async function setFoldedEmail(tx: Tx, id: UserId, folded: FoldedEmail): Promise<boolean> {
  const set = await tx.run(sql`
    update users set email_folded = ${folded}
    where id = ${id} and not exists (select from users holder where holder.email_folded = ${folded})`);
  return set === 1;
}

/** The account keeps everything, but is no longer found by its address. */
export async function setEmailAside(tx: Tx, id: UserId, now: Date): Promise<void> {
  await tx.run(sql`update users set email_set_aside_at = ${now} where id = ${id}`);
}

export function listEmailsSetAside(db: Queryable): Promise<{ id: UserId; name: string; email: string }[]> {
  return db.rows(sql`select id, name, email from users where email_set_aside_at is not null order by id`);
}

/**
 * All other data of the user is deleted with this row (`on delete cascade`). Memberships are not: an
 * organization must not lose one by accident.
 */
export async function removeUser(tx: Tx, id: UserId): Promise<void> {
  await tx.run(sql`delete from users where id = ${id}`);
}

export type AccountRow = UserRow & {
  totpEnabled: boolean;
  backupCodesLeft: number;
  passkeyCount: number;
  isOperator: boolean;
};

export function readAccount(db: Queryable, id: UserId): Promise<AccountRow> {
  return db.one<AccountRow>(sql`
    select ${columns},
      exists (select from second_factors where user_id = users.id and confirmed_at is not null) as totp_enabled,
      (select count(*) from backup_codes where user_id = users.id) as backup_codes_left,
      (select count(*) from passkeys where user_id = users.id) as passkey_count,
      exists (select from operator_grants where user_id = users.id and revoked_at is null) as is_operator
    from users where id = ${id}`);
}

type OwnedOrganizationRow = { id: OrganizationId; name: string; slug: string };

export function listSolelyOwnedOrganizations(db: Queryable, userId: UserId): Promise<OwnedOrganizationRow[]> {
  return db.rows<OwnedOrganizationRow>(sql`
    select o.id, o.name, o.slug
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.role = 'owner' and not exists (
      select from memberships other
      where other.organization_id = m.organization_id and other.role = 'owner' and other.user_id <> m.user_id)
    order by o.id desc`);
}

/** Locks these organizations: their owners cannot change until the transaction ends. */
export async function lockOrganizationsOf(tx: Tx, userId: UserId): Promise<void> {
  await tx.rows(sql`
    select id from organizations where id in (select organization_id from memberships where user_id = ${userId})
    order by id for no key update`);
}

/** Revokes every invitation that the user has sent, and returns them. */
export function removeInvitationsOf(
  tx: Tx,
  userId: UserId,
): Promise<{ id: InvitationId; organizationId: OrganizationId; role: Role }[]> {
  return tx.rows(
    sql`delete from invitations where invited_by = ${userId} returning id, organization_id, role`,
  );
}

/** Removes the user from every organization and returns their ids. */
export async function removeMembershipsOf(tx: Tx, userId: UserId): Promise<OrganizationId[]> {
  const rows = await tx.rows<{ organizationId: OrganizationId }>(
    sql`delete from memberships where user_id = ${userId} returning organization_id`,
  );
  return rows.map((row) => row.organizationId);
}

export async function insertUserSession(
  tx: Tx,
  session: {
    id: UserSessionId;
    userId: UserId;
    tokenHash: Buffer;
    userAgent: string;
    now: Date;
    expiresAt: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into user_sessions (id, user_id, token_hash, user_agent, created_at, last_seen_at, expires_at)
    values (${session.id}, ${session.userId}, ${session.tokenHash}, ${session.userAgent}, ${session.now}, ${session.now},
      ${session.expiresAt})`);
}

type SessionOwner = {
  id: UserSessionId;
  userId: UserId;
  lastSeenAt: Date;
  name: string;
  email: string;
  emailFolded: FoldedEmail | null;
  organizationId: OrganizationId | null;
  role: Role | null;
  liveIsOpen: boolean | null;
  frozen: boolean | null;
};

/** The owner of a token, and the organization they act in: the chosen one, or their only one. */
export function findSessionOwner(db: Queryable, tokenHash: Buffer, now: Date): Promise<SessionOwner | null> {
  return db.first<SessionOwner>(sql`
    select s.id, s.user_id, s.last_seen_at, u.name, u.email, u.email_folded, m.organization_id, m.role,
      o.environment = 'live' as live_is_open, o.pending_deletion_at is not null as frozen
    from user_sessions s
    join users u on u.id = s.user_id
    left join lateral (
      select organization_id, role from memberships m
      where m.user_id = s.user_id
        and (m.organization_id = s.active_organization_id
          or (select count(*) from memberships c where c.user_id = s.user_id) = 1)
      limit 1) m on true
    left join organizations o on o.id = m.organization_id
    where s.token_hash = ${tokenHash} and s.expires_at > ${now}`);
}

export async function touchUserSession(
  db: Queryable,
  id: UserSessionId,
  now: Date,
  expiresAt: Date,
): Promise<void> {
  await db.run(
    sql`update user_sessions set last_seen_at = ${now}, expires_at = ${expiresAt} where id = ${id}`,
  );
}

export type UserSessionRow = { id: UserSessionId; userAgent: string; createdAt: Date; lastSeenAt: Date };

export function listUserSessions(
  db: Queryable,
  userId: UserId,
  page: PageStart<UserSessionId> & { limit: number },
  now: Date,
) {
  return readPage<UserSessionRow>(db, {
    ...page,
    cursorExists: (id) => sql`select 1 from user_sessions where id = ${id} and user_id = ${userId}`,
    rowsAfter: (count) => sql`
        select id, user_agent, created_at, last_seen_at from user_sessions
        where user_id = ${userId} and expires_at > ${now} ${beyondCursor(page)}
        order by id desc limit ${count}`,
  });
}

export function removeUserSession(db: Queryable, userId: UserId, id: UserSessionId): Promise<number> {
  return db.run(sql`delete from user_sessions where id = ${id} and user_id = ${userId}`);
}

export async function removeOtherUserSessions(
  db: Queryable,
  userId: UserId,
  exceptId: UserSessionId | null,
): Promise<void> {
  await db.run(sql`
    delete from user_sessions where user_id = ${userId} and id is distinct from ${exceptId}::uuid`);
}

export async function findMembership(
  db: Queryable,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<Membership | null> {
  return db.first<Membership>(sql`
    select m.organization_id, m.role, o.environment = 'live' as live_is_open,
      o.pending_deletion_at is not null as frozen
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.organization_id = ${organizationId}`);
}

export function expiredUserSessions(now: Date): Expired {
  return { table: "user_sessions", key: "id", type: "uuid", due: sql`expires_at <= ${now}` };
}
