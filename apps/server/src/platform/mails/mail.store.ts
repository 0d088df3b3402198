import type { FoldedEmail } from "@assay/contract/email";
import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../db/db.ts";
import { notQuarantined } from "../db/quarantine.store.ts";
import type { Among } from "../db/quarantine.ts";
import { type Sql, sql } from "../db/sql.ts";

export async function insertMail(
  tx: Tx,
  mail: { id: string; organizationId: OrganizationId | null; content: Buffer; now: Date },
): Promise<void> {
  await tx.run(sql`
    insert into mails (id, organization_id, content, next_attempt_at, created_at)
    values (${mail.id}, ${mail.organizationId}, ${mail.content}, ${mail.now}, ${mail.now})`);
}

type ReaderRow = { name: string; language: string | null; emailVerifiedAt: Date | null };

/** What a mail to this address may know about its account. */
export function findAccountOf(db: Queryable, email: FoldedEmail): Promise<ReaderRow | null> {
  return db.first<ReaderRow>(
    sql`select name, language, email_verified_at from users where email_folded = ${email}`,
  );
}

export type DueMail = {
  id: string;
  organizationId: OrganizationId | null;
  content: Buffer;
  /** Without the current attempt. */
  attemptCount: number;
  createdAt: Date;
};

export function takeDueMails(db: Queryable, now: Date, among: Among): Promise<DueMail[]> {
  return db.rows<DueMail>(sql`
    select id, organization_id, content, attempt_count, created_at from mails
    where (next_attempt_at <= ${now} or ${among.isRetry}) and ${among.where(sql`id`, "uuid")}
    order by next_attempt_at limit ${among.limit} ${among.lock}`);
}

/** Leases mails. If the process dies, they are due again at `leaseUntil`. */
export async function leaseMails(tx: Tx, ids: readonly string[], leaseUntil: Date): Promise<void> {
  await tx.run(sql`
    update mails set next_attempt_at = ${leaseUntil}, attempt_count = attempt_count + 1
    where id = any(${ids}::uuid[])`);
}

/**
 * The creation time of the oldest unsent mail, without those that `job` has quarantined. Ids begin with their
 * time.
 */
export function oldestMail(job: string, now: Date): Sql {
  return sql`select created_at from mails where ${notQuarantined(job, "mails", sql`id`, "uuid", now)} order by id limit 1`;
}

export async function findOldestMail(db: Queryable, job: string, now: Date): Promise<Date | null> {
  return (await db.first<{ createdAt: Date }>(oldestMail(job, now)))?.createdAt ?? null;
}

export async function removeMail(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from mails where id = ${id}`);
}

export async function postponeMail(db: Queryable, id: string, until: Date): Promise<void> {
  await db.run(sql`update mails set next_attempt_at = ${until} where id = ${id}`);
}

export async function findDeletedOrganizations(
  db: Queryable,
  ids: readonly OrganizationId[],
): Promise<OrganizationId[]> {
  if (ids.length === 0) return [];
  const rows = await db.rows<{ organizationId: OrganizationId }>(
    sql`select organization_id from deleted_organizations where organization_id = any(${ids}::uuid[])`,
  );
  return rows.map((row) => row.organizationId);
}
