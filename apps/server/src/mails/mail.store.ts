import type { OrganizationId } from "@assay/contract/ids";
import type { Db, Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";

export async function insertMail(
  tx: Tx,
  mail: { id: string; organizationId: OrganizationId | null; content: Buffer; now: Date },
): Promise<void> {
  await tx.run(sql`
    insert into mails (id, organization_id, content, next_attempt_at, created_at)
    values (${mail.id}, ${mail.organizationId}, ${mail.content}, ${mail.now}, ${mail.now})`);
}

export type DueMail = {
  id: string;
  organization_id: OrganizationId | null;
  content: Buffer;
  attempt_count: number;
  created_at: Date;
};

/** Leases due mails; those of a process that dies come back when `leaseUntil` has passed. */
export function claimDueMails(db: Db, now: Date, leaseUntil: Date, limit: number): Promise<DueMail[]> {
  return db.rows<DueMail>(sql`
    update mails set next_attempt_at = ${leaseUntil}, attempt_count = attempt_count + 1
    where id in (select id from mails where next_attempt_at <= ${now} order by next_attempt_at limit ${limit} for update skip locked)
    returning id, organization_id, content, attempt_count, created_at`);
}

export async function removeMail(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from mails where id = ${id}`);
}

export async function postponeMail(db: Queryable, id: string, until: Date): Promise<void> {
  await db.run(sql`update mails set next_attempt_at = ${until} where id = ${id}`);
}

/** Those of the organizations that are deleted. */
export async function findDeletedOrganizations(
  db: Queryable,
  ids: readonly OrganizationId[],
): Promise<OrganizationId[]> {
  if (ids.length === 0) return [];
  const rows = await db.rows<{ organization_id: OrganizationId }>(
    sql`select organization_id from deleted_organizations where organization_id = any(${ids}::uuid[])`,
  );
  return rows.map((row) => row.organization_id);
}
