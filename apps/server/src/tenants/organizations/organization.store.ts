import type { Environment } from "@assay/contract/facts";
import type { OrganizationId, SessionId, UserId, UserSessionId } from "@assay/contract/ids";
import type * as contract from "@assay/contract/organizations";
import type { BodyOf, Role } from "@assay/contract/route";
import { firstRow, type Queryable, type Question, type Tx } from "../../platform/db/db.ts";
import { beyondCursor, readPage } from "../../platform/db/page.ts";
import { joinSql, type Sql, sql } from "../../platform/db/sql.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

type OrganizationRow = {
  id: OrganizationId;
  name: string;
  slug: string;
  brandColor: string | null;
  logoUrl: string | null;
  websiteUrl: string | null;
  supportEmail: string | null;
  privacyUrl: string | null;
  termsUrl: string | null;
  environment: Environment;
  logoUploadedAt: Date | null;
  agentsMayChangeWebhooks: boolean;
  pendingDeletionAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

/** An organization as one of its members sees it. */
export type OwnOrganizationRow = OrganizationRow & { role: Role };

const columns = sql`o.id, o.name, o.slug, o.environment, o.brand_color,
  (select l.uploaded_at from organization_logos l where l.organization_id = o.id) as logo_uploaded_at, o.logo_url, o.website_url, o.support_email, o.privacy_url,
  o.terms_url, o.agents_may_change_webhooks, o.pending_deletion_at, o.created_at, o.updated_at`;

export async function insertOrganization(
  tx: Tx,
  organization: {
    id: OrganizationId;
    name: string;
    slug: string;
    documentIdKey: Buffer;
    createdBy: UserId | null;
    now: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into organizations (id, name, slug, document_id_key, created_by, created_at, updated_at)
    values (${organization.id}, ${organization.name}, ${organization.slug}, ${organization.documentIdKey},
      ${organization.createdBy}, ${organization.now}, ${organization.now})`);
}

/**
 * Locks the organization's row for this transaction. Every change of its owners, and every decision that
 * depends on them, takes this lock first, so that they run one after the other. Null if there is no such
 * organization.
 */
export function lockOrganization(tx: Tx, organizationId: OrganizationId): Promise<OrganizationRow | null> {
  return tx.first<OrganizationRow>(
    sql`select ${columns} from organizations o where o.id = ${organizationId} for no key update`,
  );
}

/**
 * The number of organizations that the account has created. Locks the account for this transaction, so that
 * two concurrent requests cannot both pass the limit.
 */
export async function countCreatedBy(tx: Tx, userId: UserId): Promise<number> {
  await tx.run(sql`select 1 from users where id = ${userId} for no key update`);
  const { count } = await tx.one<{ count: number }>(
    sql`select count(*) as count from organizations where created_by = ${userId}`,
  );
  return count;
}

/** The account that created the organization; null if it is deleted. */
export async function readCreator(db: Queryable, organizationId: OrganizationId): Promise<UserId | null> {
  const row = await db.first<{ createdBy: UserId | null }>(
    sql`select created_by from organizations where id = ${organizationId}`,
  );
  return row?.createdBy ?? null;
}

export function readOwnOrganization(
  db: Queryable,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<OwnOrganizationRow | null> {
  return db.first<OwnOrganizationRow>(sql`
    select ${columns}, m.role from organizations o join memberships m on m.organization_id = o.id
    where o.id = ${organizationId} and m.user_id = ${userId}`);
}

export type OrganizationOfPerson = OrganizationRow & {
  businessName: string | null;
  businessJurisdiction: string | null;
  businessRegistrationNumber: string | null;
};

/** For the verify page: what a person sees of the organization that sent them. */
export function findOrganizationOfPerson(
  db: Queryable,
  organizationId: OrganizationId,
): Promise<OrganizationOfPerson | null> {
  return db.first<OrganizationOfPerson>(ofPerson(sql`${organizationId}`));
}

/** The same for a session that is not read yet. */
export function organizationOfSession(sessionId: SessionId): Question<OrganizationOfPerson | null> {
  return firstRow<OrganizationOfPerson>(
    ofPerson(sql`(select s.organization_id from sessions s where s.id = ${sessionId})`),
  );
}

const ofPerson = (organizationId: Sql) => sql`
  select ${columns}, o.business_name, o.business_jurisdiction, o.business_registration_number
  from organizations o where o.id = ${organizationId}`;

export function listOwnOrganizations(
  db: Queryable,
  userId: UserId,
  page: PageStart<OrganizationId> & { limit: number },
) {
  return readPage<OwnOrganizationRow>(db, {
    ...page,
    cursorExists: (id) =>
      sql`select 1 from memberships where user_id = ${userId} and organization_id = ${id}`,
    rowsAfter: (count) => sql`
        select ${columns}, m.role from organizations o join memberships m on m.organization_id = o.id
        where m.user_id = ${userId} ${beyondCursor(page, sql`o.id`)}
        order by o.id desc limit ${count}`,
  });
}

export async function updateOrganization(
  tx: Tx,
  organizationId: OrganizationId,
  change: BodyOf<typeof contract.updateOrganization>,
  now: Date,
): Promise<void> {
  const changes: Sql[] = [sql`updated_at = ${now}`];
  if (change.name !== undefined) changes.push(sql`name = ${change.name}`);
  if (change.slug !== undefined) changes.push(sql`slug = ${change.slug}`);
  if (change.brand_color !== undefined) changes.push(sql`brand_color = ${change.brand_color}`);
  if (change.logo_url !== undefined) changes.push(sql`logo_url = ${change.logo_url}`);
  if (change.website_url !== undefined) changes.push(sql`website_url = ${change.website_url}`);
  if (change.support_email !== undefined) changes.push(sql`support_email = ${change.support_email}`);
  if (change.privacy_url !== undefined) changes.push(sql`privacy_url = ${change.privacy_url}`);
  if (change.terms_url !== undefined) changes.push(sql`terms_url = ${change.terms_url}`);
  if (change.agents_may_change_webhooks !== undefined)
    changes.push(sql`agents_may_change_webhooks = ${change.agents_may_change_webhooks}`);
  await tx.run(sql`update organizations set ${joinSql(changes, sql`, `)} where id = ${organizationId}`);
}

export async function setActiveOrganization(
  db: Queryable,
  organizationId: OrganizationId,
  userSessionId: UserSessionId,
): Promise<void> {
  await db.run(
    sql`update user_sessions set active_organization_id = ${organizationId} where id = ${userSessionId}`,
  );
}

export async function readDocumentIdKey(
  db: Queryable,
  organizationId: OrganizationId,
): Promise<Buffer | null> {
  const row = await db.first<{ documentIdKey: Buffer | null }>(
    sql`select document_id_key from organizations where id = ${organizationId}`,
  );
  return row?.documentIdKey ?? null;
}

/** Sets the key if there is none; of two concurrent processes the first one wins. */
export async function setMissingDocumentIdKey(
  db: Queryable,
  organizationId: OrganizationId,
  sealed: Buffer,
): Promise<void> {
  await db.run(sql`
    update organizations set document_id_key = ${sealed}
    where id = ${organizationId} and document_id_key is null`);
}

/** Every organization of the installation, for its operator. */
export function listAllOrganizations(db: Queryable) {
  return db.rows<{
    id: OrganizationId;
    slug: string;
    name: string;
    environment: Environment;
    members: number;
    frozen: boolean;
  }>(sql`
    select o.id, o.slug, o.name, o.environment, o.pending_deletion_at is not null as frozen,
      (select count(*) from memberships m where m.organization_id = o.id) as members
    from organizations o order by o.id`);
}
