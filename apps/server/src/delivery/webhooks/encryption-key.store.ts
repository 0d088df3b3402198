import type { EncryptionKeyId, EndpointId, OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { beyondCursor, orderOf, readPage } from "../../platform/db/page.ts";
import { sql } from "../../platform/db/sql.ts";
import type { Tenant } from "../../platform/kernel/caller.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type EncryptionKeyRow = {
  id: EncryptionKeyId;
  endpointId: EndpointId;
  keyId: string;
  n: string;
  e: string;
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
  deactivatedAt: Date | null;
};

const columns = sql`id, endpoint_id, key_id, n, e, is_active, created_at, updated_at, deactivated_at`;

export function insertEncryptionKey(
  tx: Tx,
  key: Pick<EncryptionKeyRow, "id" | "endpointId" | "keyId" | "n" | "e"> & {
    organizationId: OrganizationId;
    now: Date;
  },
): Promise<EncryptionKeyRow> {
  return tx.one<EncryptionKeyRow>(sql`
    insert into webhook_keys (id, endpoint_id, organization_id, key_id, n, e, is_active, activation_number, created_at, updated_at)
    values (${key.id}, ${key.endpointId}, ${key.organizationId}, ${key.keyId}, ${key.n}, ${key.e}, true,
      nextval('webhook_key_activations'), ${key.now}, ${key.now})
    returning ${columns}`);
}

export function listEncryptionKeys(
  db: Queryable,
  organizationId: OrganizationId,
  endpointId: EndpointId,
  page: { limit: number } & PageStart<EncryptionKeyId>,
) {
  const ofEndpoint = sql`organization_id = ${organizationId} and endpoint_id = ${endpointId}`;
  return readPage<EncryptionKeyRow>(db, {
    ...page,
    cursorExists: (id) => sql`select 1 from webhook_keys where ${ofEndpoint} and id = ${id}`,
    rowsAfter: (count) => sql`
        select ${columns} from webhook_keys
        where ${ofEndpoint} ${beyondCursor(page)}
        order by id ${orderOf(page)} limit ${count}`,
  });
}

/**
 * The keys that a name may refer to: the key with this id, or the keys that the partner gave this name. A key
 * is in the environment of its endpoint.
 */
export async function findKeysByName(
  db: Queryable,
  tenant: Tenant,
  name: string,
): Promise<EncryptionKeyRow[]> {
  const rows = await db.rows<EncryptionKeyRow>(sql`
    select ${columns} from webhook_keys
    where organization_id = ${tenant.organizationId} and (id = ${name} or key_id = ${name})
      and endpoint_id in (select id from webhook_endpoints where ${ownedBy(tenant)})
    limit 3`);
  const byId = rows.filter((row) => row.id === name);
  return byId.length > 0 ? byId : rows;
}

/** Changes nothing when the key is in that state already. */
export async function setKeyActive(
  tx: Tx,
  organizationId: OrganizationId,
  id: EncryptionKeyId,
  active: boolean,
  now: Date,
): Promise<EncryptionKeyRow | null> {
  return tx.first<EncryptionKeyRow>(
    active
      ? sql`update webhook_keys set is_active = true, activation_number = nextval('webhook_key_activations'),
            deactivated_at = null, updated_at = ${now}
          where organization_id = ${organizationId} and id = ${id} and not is_active returning ${columns}`
      : sql`update webhook_keys set is_active = false, deactivated_at = ${now}, updated_at = ${now}
          where organization_id = ${organizationId} and id = ${id} and is_active returning ${columns}`,
  );
}
