import type { Method, PageLanguage } from "@assay/contract/facts";
import type { OrganizationId, TemplateId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { beyondCursor, orderOf, readPage } from "../../platform/db/page.ts";
import { sql } from "../../platform/db/sql.ts";
import { isSandbox, type Tenant } from "../../platform/kernel/caller.ts";
import type { PageStart } from "../../platform/kernel/page.ts";
import { foldName, type TemplateContent } from "./template.ts";

export type TemplateRow = TemplateContent & {
  id: TemplateId;
  sandbox: boolean;
  name: string;
  methods: Method[] | null;
  locale: PageLanguage | null;
  createdAt: Date;
  updatedAt: Date;
};

const columns = sql`id, sandbox, name, share_fields, methods, requirements, locale, redirect_url, created_at, updated_at`;

const jsonOrNull = (value: object | null) => (value === null ? null : JSON.stringify(value));

export function insertTemplate(
  tx: Tx,
  tenant: Tenant & { organizationId: OrganizationId },
  template: TemplateContent & { id: TemplateId; name: string; now: Date },
): Promise<TemplateRow> {
  return tx.one<TemplateRow>(sql`
    insert into session_templates (id, organization_id, sandbox, name, folded_name, share_fields, methods, requirements, locale,
      redirect_url, created_at, updated_at)
    values (${template.id}, ${tenant.organizationId}, ${isSandbox(tenant)}, ${template.name}, ${foldName(template.name)},
      ${jsonOrNull(template.shareFields)}, ${template.methods}, ${jsonOrNull(template.requirements)}, ${template.locale},
      ${template.redirectUrl}, ${template.now}, ${template.now})
    returning ${columns}`);
}

export function findTemplate(db: Queryable, tenant: Tenant, id: TemplateId): Promise<TemplateRow | null> {
  return db.first<TemplateRow>(
    sql`select ${columns} from session_templates where ${ownedBy(tenant)} and id = ${id}`,
  );
}

/** By its id, or by its name, ignoring case. No name has the form of an id. */
export function findTemplateCalled(
  db: Queryable,
  tenant: Tenant,
  idOrName: string,
): Promise<TemplateRow | null> {
  return db.first<TemplateRow>(sql`
    select ${columns} from session_templates
    where ${ownedBy(tenant)} and (id = ${idOrName} or folded_name = ${foldName(idOrName)})`);
}

export async function countTemplates(tx: Tx, tenant: Tenant): Promise<number> {
  const { count } = await tx.one<{ count: number }>(
    sql`select count(*) from session_templates where ${ownedBy(tenant)}`,
  );
  return count;
}

/** Undefined fields stay unchanged. */
export function updateTemplate(
  tx: Tx,
  tenant: Tenant,
  id: TemplateId,
  change: { [K in keyof TemplateContent]: TemplateContent[K] | undefined } & {
    name: string | undefined;
    now: Date;
  },
): Promise<TemplateRow | null> {
  const { name, shareFields, methods, requirements, locale, redirectUrl, now } = change;
  return tx.first<TemplateRow>(sql`
    update session_templates set
      name = coalesce(${name ?? null}, name),
      folded_name = coalesce(${name === undefined ? null : foldName(name)}, folded_name),
      share_fields = case when ${shareFields !== undefined}::boolean then ${jsonOrNull(shareFields ?? null)}::json else share_fields end,
      methods = case when ${methods !== undefined}::boolean then ${methods ?? null}::text[] else methods end,
      requirements = case when ${requirements !== undefined}::boolean then ${jsonOrNull(requirements ?? null)}::jsonb else requirements end,
      locale = case when ${locale !== undefined}::boolean then ${locale ?? null}::text else locale end,
      redirect_url = case when ${redirectUrl !== undefined}::boolean then ${redirectUrl ?? null}::text else redirect_url end,
      updated_at = ${now}
    where ${ownedBy(tenant)} and id = ${id}
    returning ${columns}`);
}

export function deleteTemplate(tx: Tx, tenant: Tenant, id: TemplateId): Promise<{ name: string } | null> {
  return tx.first<{ name: string }>(
    sql`delete from session_templates where ${ownedBy(tenant)} and id = ${id} returning name`,
  );
}

export function listTemplates(
  db: Queryable,
  tenant: Tenant,
  page: { limit: number } & PageStart<TemplateId>,
) {
  return readPage<TemplateRow>(db, {
    ...page,
    cursorExists: (id) => sql`select 1 from session_templates where ${ownedBy(tenant)} and id = ${id}`,
    rowsAfter: (limit) => sql`
      select ${columns} from session_templates where ${ownedBy(tenant)} ${beyondCursor(page)}
      order by id ${orderOf(page)} limit ${limit}`,
  });
}
