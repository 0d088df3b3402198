import type { OrganizationId, UserId, UserSessionId } from "@assay/contract/ids";
import type { Role } from "@assay/contract/route";
import type { Queryable, Tx } from "../db/db.ts";
import { readPage } from "../db/page.ts";
import type { Expired } from "../db/set-aside.store.ts";
import { noSql, sql } from "../db/sql.ts";
import type { Environment, Membership } from "../kernel/caller.ts";

export type UserRow = {
  id: UserId;
  name: string;
  email: string;
  email_verified_at: Date | null;
  password_hash: string | null;
  created_at: Date;
};

const columns = sql`id, name, email, email_verified_at, password_hash, created_at`;

export function insertUser(
  tx: Tx,
  user: {
    id: UserId;
    name: string;
    email: string;
    passwordHash: string | null;
    emailVerifiedAt: Date | null;
    now: Date;
  },
): Promise<UserRow> {
  return tx.one<UserRow>(sql`
    insert into users (id, name, email, email_verified_at, password_hash, created_at, updated_at)
    values (${user.id}, ${user.name}, ${user.email}, ${user.emailVerifiedAt}, ${user.passwordHash}, ${user.now}, ${user.now})
    returning ${columns}`);
}

export function findUserByEmail(db: Queryable, email: string): Promise<UserRow | null> {
  return db.first<UserRow>(sql`select ${columns} from users where lower(email) = lower(${email})`);
}

export function findUserById(db: Queryable, id: UserId): Promise<UserRow | null> {
  return db.first<UserRow>(sql`select ${columns} from users where id = ${id}`);
}

/** The user, locked until the transaction ends. */
export function lockUser(tx: Tx, id: UserId): Promise<UserRow | null> {
  return tx.first<UserRow>(sql`select ${columns} from users where id = ${id} for update`);
}

export async function setUserName(db: Queryable, id: UserId, name: string, now: Date): Promise<void> {
  await db.run(sql`update users set name = ${name}, updated_at = ${now} where id = ${id}`);
}

export async function setPasswordHash(
  tx: Tx,
  id: UserId,
  passwordHash: string | null,
  now: Date,
): Promise<void> {
  await tx.run(sql`update users set password_hash = ${passwordHash}, updated_at = ${now} where id = ${id}`);
}

export async function setVerifiedEmail(tx: Tx, id: UserId, email: string, now: Date): Promise<void> {
  await tx.run(sql`
    update users set email = ${email}, email_verified_at = ${now}, updated_at = ${now} where id = ${id}`);
}

/**
 * Everything else of the user is deleted with this row (`on delete cascade`). Memberships are not: an organization
 * must not lose one by accident.
 */
export async function removeUser(tx: Tx, id: UserId): Promise<void> {
  await tx.run(sql`delete from users where id = ${id}`);
}

export type AccountRow = UserRow & {
  totp_enabled: boolean;
  backup_codes_left: number;
  passkey_count: number;
};

export function readAccount(db: Queryable, id: UserId): Promise<AccountRow> {
  return db.one<AccountRow>(sql`
    select ${columns},
      exists (select from second_factors where user_id = users.id and confirmed_at is not null) as totp_enabled,
      (select count(*) from backup_codes where user_id = users.id) as backup_codes_left,
      (select count(*) from passkeys where user_id = users.id) as passkey_count
    from users where id = ${id}`);
}

export type OwnedOrganizationRow = { id: OrganizationId; name: string; slug: string };

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

/** Removes the user from every organization and tells from which. */
export async function removeMembershipsOf(tx: Tx, userId: UserId): Promise<OrganizationId[]> {
  const rows = await tx.rows<{ organization_id: OrganizationId }>(
    sql`delete from memberships where user_id = ${userId} returning organization_id`,
  );
  return rows.map((row) => row.organization_id);
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

export type SessionOwner = {
  id: UserSessionId;
  user_id: UserId;
  last_seen_at: Date;
  name: string;
  email: string;
  organization_id: OrganizationId | null;
  role: Role | null;
  environment: Environment | null;
  frozen: boolean | null;
};

/**
 * Who a token belongs to and the organization they act in: the one they chose, or their only one.
 */
export function findSessionOwner(db: Queryable, tokenHash: Buffer, now: Date): Promise<SessionOwner | null> {
  return db.first<SessionOwner>(sql`
    select s.id, s.user_id, s.last_seen_at, u.name, u.email, m.organization_id, m.role, o.environment,
      o.pending_deletion_at is not null as frozen
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

export type UserSessionRow = { id: UserSessionId; user_agent: string; created_at: Date; last_seen_at: Date };

export function listUserSessions(
  db: Queryable,
  userId: UserId,
  page: { limit: number; startingAfter: UserSessionId | undefined; now: Date },
) {
  const { limit, startingAfter, now } = page;
  return readPage<UserSessionRow>(db, {
    limit,
    startingAfter,
    cursorExists: (id) => sql`select 1 from user_sessions where id = ${id} and user_id = ${userId}`,
    rowsAfter: (count) => sql`
        select id, user_agent, created_at, last_seen_at from user_sessions
        where user_id = ${userId} and expires_at > ${now}
          ${startingAfter === undefined ? noSql : sql`and id < ${startingAfter}`}
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
    select m.organization_id as "organizationId", m.role, o.environment, o.pending_deletion_at is not null as frozen
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.organization_id = ${organizationId}`);
}

/** Removes a batch of sign-ins that have run out; returns how many. */
export function expiredUserSessions(now: Date): Expired {
  return { table: "user_sessions", key: "id", type: "uuid", due: sql`expires_at <= ${now}` };
}
