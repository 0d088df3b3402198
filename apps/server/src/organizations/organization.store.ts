import type { Role } from "@assay/contract/route";
import type { Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import type { Environment } from "../http/caller.ts";

export type OrganizationRow = { id: string; name: string; slug: string; environment: Environment };

export function insertOrganization(
  tx: Tx,
  organization: { id: string; name: string; slug: string; now: Date },
): Promise<OrganizationRow> {
  return tx.one<OrganizationRow>(sql`
    insert into organizations (id, name, slug, created_at, updated_at)
    values (${organization.id}, ${organization.name}, ${organization.slug}, ${organization.now}, ${organization.now})
    returning id, name, slug, environment`);
}

export async function insertMembership(
  tx: Tx,
  organizationId: string,
  userId: string,
  role: Role,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into memberships (organization_id, user_id, role, created_at, updated_at)
    values (${organizationId}, ${userId}, ${role}, ${now}, ${now})`);
}

export async function setActiveOrganization(
  db: Queryable,
  userSessionId: string,
  organizationId: string,
): Promise<void> {
  await db.run(
    sql`update user_sessions set active_organization_id = ${organizationId} where id = ${userSessionId}`,
  );
}
