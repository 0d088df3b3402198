import type { EventType } from "@assay/contract/events";
import type { EncryptionKeyId, EndpointId, OrganizationId } from "@assay/contract/ids";
import type { DisabledReason, EndpointKind, PayloadRetentionHours } from "@assay/contract/webhooks";
import { allRows, firstRow, type Queryable, type Question, type Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { beyondCursor, orderOf, readPage } from "../../platform/db/page.ts";
import { isOneOf, noSql, sql } from "../../platform/db/sql.ts";
import { isSandbox, type Tenant } from "../../platform/kernel/caller.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type EndpointRow = {
  id: EndpointId;
  organizationId: OrganizationId;
  sandbox: boolean;
  name: string | null;
  kind: EndpointKind;
  url: string;
  enabled: boolean;
  subscribedEventTypes: EventType[] | null;
  undeliveredPayloadRetentionHours: PayloadRetentionHours;
  hasActiveKey: boolean;
  createdAt: Date;
  updatedAt: Date;
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
  listenerSeenAt: Date | null;
};

const columns = sql`id, organization_id, sandbox, name, kind, url, enabled, subscribed_event_types, undelivered_payload_retention_hours,
  exists (select from webhook_keys k where k.endpoint_id = webhook_endpoints.id and k.is_active) as has_active_key,
  created_at, updated_at, disabled_at, disabled_reason, listener_seen_at`;

/** Whether a session may be bound to it: same organization and environment, and enabled. */
export async function isUsableEndpoint(
  db: Queryable,
  tenant: Tenant,
  endpointId: EndpointId,
): Promise<boolean> {
  const found = await db.first(
    sql`select 1 from webhook_endpoints where ${ownedBy(tenant)} and id = ${endpointId} and enabled`,
  );
  return found !== null;
}

/** Whether at least one endpoint would get the event of a success, sealed. */
export async function canReceiveResults(db: Queryable, tenant: Tenant): Promise<boolean> {
  const succeeded: EventType = "verification.session.succeeded";
  const found = await db.first(sql`
    select 1 from webhook_endpoints e
    where ${ownedBy(tenant, sql`e.`)} and e.enabled
      and (e.subscribed_event_types is null or ${succeeded} = any(e.subscribed_event_types))
      and exists (select from webhook_keys k where k.endpoint_id = e.id and k.is_active)
    limit 1`);
  return found !== null;
}

export function insertEndpoint(
  tx: Tx,
  endpoint: Tenant &
    Pick<EndpointRow, "id" | "name" | "kind" | "url"> & {
      subscribedEventTypes: readonly EventType[] | null;
      retentionHours: PayloadRetentionHours;
      signingSecret: Buffer;
      now: Date;
    },
): Promise<EndpointRow> {
  return tx.one<EndpointRow>(sql`
    insert into webhook_endpoints (id, organization_id, sandbox, name, kind, url, enabled, subscribed_event_types,
      undelivered_payload_retention_hours, signing_secret, listener_seen_at, created_at, updated_at)
    values (${endpoint.id}, ${endpoint.organizationId}, ${isSandbox(endpoint)}, ${endpoint.name}, ${endpoint.kind}, ${endpoint.url}, true,
      ${endpoint.subscribedEventTypes}, ${endpoint.retentionHours}, ${endpoint.signingSecret},
      ${endpoint.kind === "listener" ? endpoint.now : null}, ${endpoint.now}, ${endpoint.now})
    returning ${columns}`);
}

export function findEndpoint(db: Queryable, tenant: Tenant, id: EndpointId): Promise<EndpointRow | null> {
  return db.first<EndpointRow>(
    sql`select ${columns} from webhook_endpoints where ${ownedBy(tenant)} and id = ${id}`,
  );
}

/** Undefined fields stay. Enabling it or changing the URL restarts the count of days without a success. */
export function updateEndpoint(
  tx: Tx,
  tenant: Tenant,
  id: EndpointId,
  change: {
    name: string | null | undefined;
    url: string | undefined;
    enabled: boolean | undefined;
    subscribedEventTypes: readonly EventType[] | undefined;
    retentionHours: PayloadRetentionHours | undefined;
    now: Date;
  },
): Promise<EndpointRow | null> {
  return tx.first<EndpointRow>(sql`
    update webhook_endpoints set
      name = case when ${change.name !== undefined}::boolean then ${change.name ?? null}::text else name end,
      url = coalesce(${change.url ?? null}, url),
      subscribed_event_types = coalesce(${change.subscribedEventTypes ?? null}::text[], subscribed_event_types),
      undelivered_payload_retention_hours = coalesce(${change.retentionHours ?? null}::integer, undelivered_payload_retention_hours),
      ${
        change.enabled === true
          ? sql`enabled = true, disabled_at = null, disabled_reason = null,`
          : change.enabled === false
            ? sql`enabled = false, disabled_at = coalesce(disabled_at, ${change.now}),
                disabled_reason = coalesce(disabled_reason, 'disabled_by_request'),`
            : noSql
      }
      failing_since = case
        when (${change.enabled === true}::boolean and not enabled) or url is distinct from coalesce(${change.url ?? null}, url)
        then null else failing_since end,
      updated_at = ${change.now}
    where ${ownedBy(tenant)} and id = ${id}
    returning ${columns}`);
}

export async function countEndpoints(tx: Tx, tenant: Tenant): Promise<number> {
  const { count } = await tx.one<{ count: number }>(
    sql`select count(*) from webhook_endpoints where ${ownedBy(tenant)}`,
  );
  return count;
}

export function deleteEndpoint(
  tx: Tx,
  tenant: Tenant,
  id: EndpointId,
): Promise<{ name: string | null } | null> {
  return tx.first<{ name: string | null }>(
    sql`delete from webhook_endpoints where ${ownedBy(tenant)} and id = ${id} returning name`,
  );
}

export function listEndpoints(
  db: Queryable,
  tenant: Tenant,
  filter: { enabled: boolean | undefined; limit: number } & PageStart<EndpointId>,
) {
  return readPage<EndpointRow>(db, {
    ...filter,
    cursorExists: (id) => sql`select 1 from webhook_endpoints where ${ownedBy(tenant)} and id = ${id}`,
    rowsAfter: (limit) => sql`
        select ${columns} from webhook_endpoints
        where ${ownedBy(tenant)}
          ${filter.enabled === undefined ? noSql : sql`and enabled = ${filter.enabled}`}
          ${beyondCursor(filter)}
        order by id ${orderOf(filter)} limit ${limit}`,
  });
}

export async function readSigningSecret(tx: Tx, tenant: Tenant, id: EndpointId): Promise<Buffer | null> {
  const row = await tx.first<{ signingSecret: Buffer }>(
    sql`select signing_secret from webhook_endpoints where ${ownedBy(tenant)} and id = ${id} for update`,
  );
  return row?.signingSecret ?? null;
}

export async function replaceSigningSecret(
  tx: Tx,
  tenant: Tenant,
  id: EndpointId,
  { sealed, previous }: { sealed: Buffer; previous: { sealed: Buffer; until: Date } | null },
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update webhook_endpoints set signing_secret = ${sealed}, updated_at = ${now},
      previous_signing_secret = ${previous?.sealed ?? null}, previous_signing_secret_until = ${previous?.until ?? null}
    where ${ownedBy(tenant)} and id = ${id}`);
}

/** Previous secrets that have stopped signing. */
export function forgetPreviousSecrets(db: Queryable, now: Date): Promise<number> {
  return db.run(sql`
    update webhook_endpoints set previous_signing_secret = null, previous_signing_secret_until = null
    where previous_signing_secret_until <= ${now}`);
}

export type PublishTarget = {
  id: EndpointId;
  organizationId: OrganizationId;
  sandbox: boolean;
  subscribedEventTypes: EventType[] | null;
  noKeyMailedAt: Date | null;
  key: { id: EncryptionKeyId; keyId: string; n: string; e: string } | null;
};

/** The key that was activated last seals. */
const sealingKey = sql`
  left join lateral (
    select json_build_object('id', k.id, 'keyId', k.key_id, 'n', k.n, 'e', k.e) as key
    from webhook_keys k where k.endpoint_id = e.id and k.is_active
    order by k.activation_number desc limit 1) k on true`;

/** The enabled endpoints of the organizations, each with its latest active key. One read for many events. */
export function publishTargets(
  organizationIds: readonly OrganizationId[],
): Question<readonly PublishTarget[]> {
  return allRows<PublishTarget>(sql`
    select e.id, e.organization_id, e.sandbox, e.subscribed_event_types, e.no_key_mailed_at, k.key
    from webhook_endpoints e ${sealingKey}
    where e.organization_id ${isOneOf(organizationIds, sql`uuid[]`)} and e.enabled`);
}

/** The same for one endpoint, enabled or not. */
export function publishTarget(
  tenant: Tenant,
  id: EndpointId,
): Question<(PublishTarget & { enabled: boolean }) | null> {
  return firstRow<PublishTarget & { enabled: boolean }>(sql`
    select e.id, e.organization_id, e.sandbox, e.subscribed_event_types, e.no_key_mailed_at, e.enabled, k.key
    from webhook_endpoints e ${sealingKey}
    where ${ownedBy(tenant, sql`e.`)} and e.id = ${id}`);
}

export type Notice = {
  id: EndpointId;
  organizationId: OrganizationId;
  sandbox: boolean;
  name: string | null;
  url: string;
};

/** Endpoints whose owners have had no mail about a missing key since `before`. Marks them as mailed. */
export function claimNoKeyNotices(
  tx: Tx,
  endpointIds: readonly EndpointId[],
  before: Date,
  now: Date,
): Promise<Notice[]> {
  return tx.rows<Notice>(sql`
    update webhook_endpoints set no_key_mailed_at = ${now}
    where id = any(${endpointIds}::text[]) and (no_key_mailed_at is null or no_key_mailed_at <= ${before})
    returning id, organization_id, sandbox, name, url`);
}

/** Records the first failure since the last success. */
export async function markFailing(tx: Tx, endpointIds: readonly EndpointId[], since: Date): Promise<void> {
  await tx.run(sql`
    update webhook_endpoints set failing_since = ${since}
    where id = any(${endpointIds}::text[]) and failing_since is null`);
}

export async function markSucceeding(tx: Tx, endpointIds: readonly EndpointId[]): Promise<void> {
  await tx.run(sql`
    update webhook_endpoints set failing_since = null
    where id = any(${endpointIds}::text[]) and failing_since is not null`);
}

/** Disables an endpoint unless its URL was changed since the attempt that is the reason. */
export function disableEndpoint(
  tx: Tx,
  organizationId: OrganizationId,
  id: EndpointId,
  url: string,
  reason: DisabledReason,
  now: Date,
): Promise<Notice | null> {
  return tx.first<Notice>(sql`
    update webhook_endpoints set enabled = false, disabled_at = ${now}, disabled_reason = ${reason}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id} and url = ${url} and enabled
    returning id, organization_id, sandbox, name, url`);
}
