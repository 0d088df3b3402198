import type { DomainId, OrganizationId, RedirectUriId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { beyondCursor, readPage } from "../../platform/db/page.ts";
import { sql } from "../../platform/db/sql.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type RedirectUriRow = {
  id: RedirectUriId;
  verifiedDomainId: DomainId;
  apexDomain: string;
  pattern: string;
  createdAt: Date;
};

const columns = sql`r.id, r.verified_domain_id, d.apex_domain, r.pattern, r.created_at`;

type DomainWithPatterns = { id: DomainId; apexDomain: string; patterns: string[] };

/**
 * The active domains of the organization among these names, each with its patterns, the longest name first.
 */
export function findActiveDomains(
  db: Queryable,
  organizationId: OrganizationId,
  names: readonly string[],
): Promise<DomainWithPatterns[]> {
  return db.rows<DomainWithPatterns>(sql`
    select d.id, d.apex_domain,
      array(select r.pattern from redirect_uris r where r.verified_domain_id = d.id) as patterns
    from verified_domains d
    where d.organization_id = ${organizationId} and d.downgraded_at is null and d.apex_domain = any(${names}::text[])
    order by length(d.apex_domain) desc`);
}

/** Locks the domain's row, so that it cannot be removed while a pattern is added. */
export async function keepDomain(
  tx: Tx,
  organizationId: OrganizationId,
  domainId: DomainId,
): Promise<boolean> {
  const kept = await tx.first(sql`
    select 1 from verified_domains where organization_id = ${organizationId} and id = ${domainId} for key share`);
  return kept !== null;
}

export async function insertRedirectUri(
  tx: Tx,
  redirect: {
    id: RedirectUriId;
    organizationId: OrganizationId;
    domainId: DomainId;
    pattern: string;
    now: Date;
  },
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into redirect_uris (id, organization_id, verified_domain_id, pattern, created_at)
    values (${redirect.id}, ${redirect.organizationId}, ${redirect.domainId}, ${redirect.pattern}, ${redirect.now})
    on conflict (organization_id, pattern) do nothing`);
  return inserted === 1;
}

export function findRedirectUri(
  db: Queryable,
  organizationId: OrganizationId,
  pattern: string,
): Promise<RedirectUriRow | null> {
  return db.first<RedirectUriRow>(sql`
    select ${columns} from redirect_uris r join verified_domains d on d.id = r.verified_domain_id
    where r.organization_id = ${organizationId} and r.pattern = ${pattern}`);
}

export function listRedirectUris(
  db: Queryable,
  organizationId: OrganizationId,
  page: PageStart<RedirectUriId> & { limit: number },
) {
  return readPage<RedirectUriRow>(db, {
    ...page,
    cursorExists: (id) =>
      sql`select 1 from redirect_uris where organization_id = ${organizationId} and id = ${id}`,
    rowsAfter: (count) => sql`
        select ${columns} from redirect_uris r join verified_domains d on d.id = r.verified_domain_id
        where r.organization_id = ${organizationId} ${beyondCursor(page, sql`r.id`)}
        order by r.id desc limit ${count}`,
  });
}

export function deleteRedirectUri(
  tx: Tx,
  organizationId: OrganizationId,
  id: RedirectUriId,
): Promise<{ pattern: string } | null> {
  return tx.first<{ pattern: string }>(
    sql`delete from redirect_uris where organization_id = ${organizationId} and id = ${id} returning pattern`,
  );
}
