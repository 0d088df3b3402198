import type { OrganizationId, UserId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { noSql, Sql, sql } from "../../platform/db/sql.ts";
import type { OwnedTable } from "./owned-tables.store.ts";

/** A new code replaces the previous one and its tries. */
export async function putDeletionCode(
  tx: Tx,
  code: {
    organizationId: OrganizationId;
    userId: UserId;
    codeHash: Buffer;
    hashKeyId: string;
    expiresAt: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into deletion_codes (organization_id, user_id, code_hash, hash_key_id, wrong_tries, expires_at)
    values (${code.organizationId}, ${code.userId}, ${code.codeHash}, ${code.hashKeyId}, 0, ${code.expiresAt})
    on conflict (organization_id, user_id) do update
    set code_hash = excluded.code_hash, hash_key_id = excluded.hash_key_id, wrong_tries = 0,
      expires_at = excluded.expires_at`);
}

/** Locked, so that concurrent tries are counted one after the other. */
export function lockDeletionCode(
  tx: Tx,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<{ codeHash: Buffer; wrongTries: number; expiresAt: Date } | null> {
  return tx.first(sql`
    select code_hash, wrong_tries, expires_at from deletion_codes
    where organization_id = ${organizationId} and user_id = ${userId} for update`);
}

export async function countWrongTry(tx: Tx, organizationId: OrganizationId, userId: UserId): Promise<void> {
  await tx.run(sql`
    update deletion_codes set wrong_tries = wrong_tries + 1
    where organization_id = ${organizationId} and user_id = ${userId}`);
}

export async function deleteDeletionCodes(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await tx.run(sql`delete from deletion_codes where organization_id = ${organizationId}`);
}

export async function setPendingDeletion(
  tx: Tx,
  organizationId: OrganizationId,
  at: Date | null,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update organizations set pending_deletion_at = ${at}, updated_at = ${now} where id = ${organizationId}`);
}

/** False if the deletion has begun, or none was scheduled. */
export async function clearPendingDeletion(
  tx: Tx,
  organizationId: OrganizationId,
  now: Date,
): Promise<boolean> {
  const cleared = await tx.run(sql`
    update organizations set pending_deletion_at = null, updated_at = ${now}
    where id = ${organizationId} and pending_deletion_at is not null and deletion_started_at is null`);
  return cleared === 1;
}

/** Organizations that are due for deletion, marked or not. */
export function takeDueDeletions(db: Queryable, now: Date, among: Among): Promise<{ id: OrganizationId }[]> {
  return db.rows<{ id: OrganizationId }>(sql`
    select id from organizations where pending_deletion_at <= ${now} and ${among.where(sql`id`, "uuid")}
    order by pending_deletion_at limit ${among.limit} ${among.lock}`);
}

/** Marks organizations: from then on the deletion cannot be undone. */
export async function startDeletions(tx: Tx, ids: readonly OrganizationId[], now: Date): Promise<void> {
  await tx.run(sql`
    update organizations set deletion_started_at = ${now}
    where id = any(${ids}::uuid[]) and deletion_started_at is null`);
}

/**
 * Deletes up to `limit` rows of the organization from a table; returns their number. `locked`: whether to
 * skip rows that another process has locked, or to wait for them.
 */
export function deleteOwnedRows(
  db: Queryable,
  organizationId: OrganizationId,
  { table, belongsTo }: OwnedTable,
  limit: number,
  locked: "skip" | "wait",
): Promise<number> {
  // The name comes from the list in owned-tables.ts, never from a caller.
  const name = new Sql([table], []);
  // `ctid` is unique only within one partition of the table.
  return db.run(sql`
    with owned as materialized (
      select tableoid as part, ctid as place from ${name} where ${belongsTo(organizationId)} limit ${limit}
      for update ${locked === "skip" ? sql`skip locked` : noSql})
    delete from ${name} t using owned where t.ctid = owned.place and t.tableoid = owned.part`);
}

export async function deleteOrganizationRow(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await tx.run(sql`
    update user_sessions set active_organization_id = null where active_organization_id = ${organizationId}`);
  await tx.run(sql`delete from memberships where organization_id = ${organizationId}`);
  await tx.run(sql`delete from organizations where id = ${organizationId}`);
}

export async function insertTombstone(tx: Tx, organizationId: OrganizationId, now: Date): Promise<void> {
  await tx.run(sql`
    insert into deleted_organizations (organization_id, deleted_at) values (${organizationId}, ${now})
    on conflict (organization_id) do nothing`);
}

/** Completes the deletion, with the time in the receipt. */
export async function updateTombstone(tx: Tx, organizationId: OrganizationId, now: Date): Promise<void> {
  await tx.run(
    sql`update deleted_organizations set deleted_at = ${now} where organization_id = ${organizationId}`,
  );
}
