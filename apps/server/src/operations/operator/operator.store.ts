import type { UserId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

export async function isOperator(db: Queryable, userId: UserId): Promise<boolean> {
  const grant = await db.first(
    sql`select from operator_grants where user_id = ${userId} and revoked_at is null`,
  );
  return grant !== null;
}

/** False if the user is already an operator. */
export async function grantOperator(db: Queryable, userId: UserId, now: Date): Promise<boolean> {
  const granted = await db.run(sql`
    insert into operator_grants (user_id, granted_at) values (${userId}, ${now})
    on conflict (user_id) where revoked_at is null do nothing`);
  return granted === 1;
}

/** False if the user is not an operator. */
export async function revokeOperator(db: Queryable, userId: UserId, now: Date): Promise<boolean> {
  const revoked = await db.run(sql`
    update operator_grants set revoked_at = greatest(granted_at, ${now})
    where user_id = ${userId} and revoked_at is null`);
  return revoked === 1;
}

type OperatorGrant = {
  userId: UserId;
  email: string;
  name: string;
  grantedAt: Date;
  revokedAt: Date | null;
};

/** Current operators first, then former ones, each with the latest first. */
export function listOperatorGrants(db: Queryable): Promise<OperatorGrant[]> {
  return db.rows<OperatorGrant>(sql`
    select g.user_id, u.email, u.name, g.granted_at, g.revoked_at
    from operator_grants g join users u on u.id = g.user_id
    order by g.revoked_at is not null, g.granted_at desc, g.user_id`);
}
