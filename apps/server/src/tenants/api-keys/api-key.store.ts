import type { ApiKeyId, OrganizationId, UserId } from "@assay/contract/ids";
import type { Scope } from "@assay/contract/route";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { beyondCursor, readPage } from "../../platform/db/page.ts";
import { isOneOf, sql } from "../../platform/db/sql.ts";
import { isSandbox, type Tenant } from "../../platform/kernel/caller.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type ApiKeyRow = {
  id: ApiKeyId;
  name: string;
  keyPrefix: string | null;
  scopes: Scope[];
  sandbox: boolean;
  enabled: boolean;
  requestCount: number;
  lastUsedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  createdBy: UserId | null;
  creatorName: string | null;
};

const columns = sql`id, name, key_prefix, scopes, sandbox, enabled, request_count, last_used_at, created_at, updated_at, created_by,
  (select u.name from users u where u.id = created_by) as creator_name`;

export function insertApiKey(
  tx: Tx,
  key: Tenant &
    Pick<ApiKeyRow, "id" | "name" | "createdBy"> & {
      scopes: readonly Scope[];
      keyPrefix: string;
      secretHash: Buffer;
      hashKeyId: string;
      now: Date;
    },
): Promise<ApiKeyRow> {
  return tx.one<ApiKeyRow>(sql`
    insert into api_keys (id, organization_id, sandbox, name, key_prefix, scopes, secret_hash, hash_key_id, created_by, created_at, updated_at)
    values (${key.id}, ${key.organizationId}, ${isSandbox(key)}, ${key.name}, ${key.keyPrefix}, ${key.scopes}, ${key.secretHash}, ${key.hashKeyId}, ${key.createdBy}, ${key.now}, ${key.now})
    returning ${columns}`);
}

export async function countApiKeys(tx: Tx, tenant: Tenant): Promise<number> {
  const { count } = await tx.one<{ count: number }>(
    sql`select count(*) from api_keys where ${ownedBy(tenant)}`,
  );
  return count;
}

export async function findApiKeyName(db: Queryable, tenant: Tenant, id: ApiKeyId): Promise<string | null> {
  const row = await db.first<{ name: string }>(
    sql`select name from api_keys where ${ownedBy(tenant)} and id = ${id}`,
  );
  return row?.name ?? null;
}

export function updateApiKey(
  tx: Tx,
  tenant: Tenant,
  id: ApiKeyId,
  change: {
    name: string | undefined;
    scopes: readonly Scope[] | undefined;
    enabled: boolean | undefined;
    now: Date;
  },
): Promise<ApiKeyRow | null> {
  return tx.first<ApiKeyRow>(sql`
    update api_keys set
      name = coalesce(${change.name ?? null}, name),
      scopes = coalesce(${change.scopes ?? null}, scopes),
      enabled = coalesce(${change.enabled ?? null}, enabled),
      updated_at = ${change.now}
    where ${ownedBy(tenant)} and id = ${id}
    returning ${columns}`);
}

export function deleteApiKey(tx: Tx, tenant: Tenant, id: ApiKeyId): Promise<{ name: string } | null> {
  return tx.first<{ name: string }>(
    sql`delete from api_keys where ${ownedBy(tenant)} and id = ${id} returning name`,
  );
}

export function listApiKeys(db: Queryable, tenant: Tenant, page: PageStart<ApiKeyId> & { limit: number }) {
  return readPage<ApiKeyRow>(db, {
    ...page,
    cursorExists: (id) => sql`select 1 from api_keys where ${ownedBy(tenant)} and id = ${id}`,
    rowsAfter: (count) => sql`
        select ${columns} from api_keys
        where ${ownedBy(tenant)} ${beyondCursor(page)}
        order by id desc limit ${count}`,
  });
}

type KeyOwner = {
  id: ApiKeyId;
  organizationId: OrganizationId;
  scopes: Scope[];
  enabled: boolean;
  secretHash: Buffer;
  sandbox: boolean;
  frozen: boolean;
  agentsMayChangeWebhooks: boolean;
};

/** `secretHashes` has the hash of one secret under each key of the ring; at most one row matches. */
export function findKeyOwner(db: Queryable, secretHashes: readonly Buffer[]): Promise<KeyOwner | null> {
  return db.first<KeyOwner>(sql`
    select k.id, k.organization_id, k.scopes, k.enabled, k.secret_hash, k.sandbox,
      o.pending_deletion_at is not null as frozen, o.agents_may_change_webhooks
    from api_keys k join organizations o on o.id = k.organization_id
    where k.secret_hash ${isOneOf(secretHashes, sql`bytea[]`)}`);
}

export async function rehashKey(
  db: Queryable,
  organizationId: OrganizationId,
  id: ApiKeyId,
  from: Buffer,
  to: { secretHash: Buffer; hashKeyId: string },
): Promise<void> {
  await db.run(sql`
    update api_keys set secret_hash = ${to.secretHash}, hash_key_id = ${to.hashKeyId}
    where organization_id = ${organizationId} and id = ${id} and secret_hash = ${from}`);
}

export async function addUsage(
  db: Queryable,
  usage: readonly { id: ApiKeyId; requests: number; lastUsedAt: Date | null }[],
): Promise<void> {
  // Ordered, so that two processes that flush at once lock the rows in the same order.
  const ordered = [...usage].sort((a, b) => (a.id < b.id ? -1 : 1));
  await db.run(sql`
    with used as (
      select * from unnest(${ordered.map((u) => u.id)}::uuid[], ${ordered.map((u) => u.requests)}::bigint[],
        ${ordered.map((u) => u.lastUsedAt)}::timestamptz[]) as t (id, requests, last_used_at)),
    locked as (select k.id from api_keys k join used using (id) order by k.id for update of k)
    update api_keys k set
      request_count = k.request_count + used.requests,
      last_used_at = greatest(k.last_used_at, used.last_used_at)
    from used join locked using (id) where k.id = used.id`);
}
