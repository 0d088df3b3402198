import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import type { Logo } from "./logo-picture.ts";

/** Of two concurrent uploads the later one stays. */
export async function putLogo(tx: Tx, organizationId: OrganizationId, logo: Logo, now: Date): Promise<void> {
  await tx.run(sql`
    insert into organization_logos (organization_id, content_type, bytes, uploaded_at)
    values (${organizationId}, ${logo.contentType}, ${Buffer.from(logo.bytes)}, ${now})
    on conflict (organization_id) do update
    set content_type = excluded.content_type, bytes = excluded.bytes, uploaded_at = excluded.uploaded_at`);
}

export function findLogo(db: Queryable, organizationId: OrganizationId): Promise<Logo | null> {
  return db.first<Logo>(
    sql`select content_type, bytes from organization_logos where organization_id = ${organizationId}`,
  );
}

/** False if there was none. */
export async function removeLogo(tx: Tx, organizationId: OrganizationId): Promise<boolean> {
  const row = await tx.first(
    sql`delete from organization_logos where organization_id = ${organizationId} returning organization_id`,
  );
  return row !== null;
}
