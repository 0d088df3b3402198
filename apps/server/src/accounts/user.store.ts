import type { Role } from "@assay/contract/route";
import type { Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import type { Environment, Membership } from "../http/caller.ts";

export type UserRow = {
  id: string;
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
    id: string;
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

export async function insertUserSession(
  tx: Tx,
  session: { id: string; userId: string; tokenHash: Buffer; userAgent: string; now: Date; expiresAt: Date },
): Promise<void> {
  await tx.run(sql`
    insert into user_sessions (id, user_id, token_hash, user_agent, created_at, last_seen_at, expires_at)
    values (${session.id}, ${session.userId}, ${session.tokenHash}, ${session.userAgent}, ${session.now}, ${session.now},
      ${session.expiresAt})`);
}

export type SessionOwner = {
  id: string;
  user_id: string;
  last_seen_at: Date;
  name: string;
  email: string;
  organization_id: string | null;
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

export async function touchUserSession(db: Queryable, id: string, now: Date, expiresAt: Date): Promise<void> {
  await db.run(
    sql`update user_sessions set last_seen_at = ${now}, expires_at = ${expiresAt} where id = ${id}`,
  );
}

export async function findMembership(
  db: Queryable,
  userId: string,
  organizationId: string,
): Promise<Membership | null> {
  return db.first<Membership>(sql`
    select m.organization_id as "organizationId", m.role, o.environment, o.pending_deletion_at is not null as frozen
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.organization_id = ${organizationId}`);
}
