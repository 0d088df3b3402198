import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { sql } from "../../platform/db/sql.ts";

export type TrustSourceRow = {
  /** The address, which names the row. */
  id: string;
  address: string;
  etag: string | null;
  lastModified: string | null;
  fileSha256: string | null;
  editionAt: Date | null;
  dueAt: Date;
  checkedAt: Date | null;
  succeededAt: Date | null;
  failures: number;
  problem: string | null;
};

const sourceColumns = sql`address as id, address, etag, last_modified, file_sha256, edition_at, due_at, checked_at, succeeded_at,
  failures, problem`;

/** Stores the configured sources. Imports of a former source stay until they are removed. */
export async function setSources(tx: Tx, addresses: readonly string[], now: Date): Promise<void> {
  await tx.run(sql`delete from trust_sources where not address = any(${addresses}::text[])`);
  await addSources(tx, addresses, now);
}

export async function addSources(tx: Tx, addresses: readonly string[], now: Date): Promise<void> {
  await tx.run(sql`
    insert into trust_sources (address, due_at)
    select address, ${now} from unnest(${addresses}::text[]) as address
    on conflict (address) do nothing`);
}

export function listSources(db: Queryable): Promise<TrustSourceRow[]> {
  return db.rows<TrustSourceRow>(sql`select ${sourceColumns} from trust_sources order by address`);
}

/** Sources that are due. */
export function takeDueSources(db: Queryable, now: Date, among: Among): Promise<TrustSourceRow[]> {
  return db.rows<TrustSourceRow>(sql`
    select ${sourceColumns} from trust_sources
    where (due_at <= ${now} or ${among.isRetry}) and ${among.where(sql`address`, "text")}
    order by due_at limit ${among.limit} ${among.lock}`);
}

/** The lease keeps other processes from taking them too. */
export async function leaseSources(tx: Tx, addresses: readonly string[], leaseUntil: Date): Promise<void> {
  await tx.run(
    sql`update trust_sources set due_at = ${leaseUntil} where address = any(${addresses}::text[])`,
  );
}

export async function lockEdition(
  tx: Tx,
  address: string,
): Promise<Pick<TrustSourceRow, "editionAt" | "fileSha256"> | null> {
  return tx.first(
    sql`select edition_at, file_sha256 from trust_sources where address = ${address} for update`,
  );
}

export async function recordSuccess(
  db: Queryable,
  address: string,
  now: Date,
  dueAt: Date,
  edition: { etag: string | null; lastModified: string | null; sha256: string; at: Date } | null,
): Promise<void> {
  const changes =
    edition === null
      ? sql``
      : sql`etag = ${edition.etag}, last_modified = ${edition.lastModified}, file_sha256 = ${edition.sha256}, edition_at = ${edition.at},`;
  await db.run(sql`
    update trust_sources set ${changes} checked_at = ${now}, succeeded_at = ${now}, due_at = ${dueAt}, failures = 0, problem = null
    where address = ${address}`);
}

/** Returns whether the problem is new. */
export async function recordProblem(
  db: Queryable,
  address: string,
  now: Date,
  dueAt: Date,
  problem: string,
): Promise<boolean> {
  const row = await db.first<{ problem: string | null }>(sql`
    update trust_sources set checked_at = ${now}, due_at = ${dueAt}, failures = failures + 1, problem = ${problem}
    from (select address as known, problem as before from trust_sources where address = ${address} for update) as old
    where address = old.known returning old.before as problem`);
  return row !== null && row.problem !== problem;
}

export async function makeSourcesDue(db: Queryable, now: Date): Promise<number> {
  return db.run(sql`update trust_sources set due_at = least(due_at, ${now})`);
}

export type Edition = { sha256: string; part: number; label: string; retireAt: Date | null };

/** The imports of earlier editions of a source that are still in effect. */
export function listEarlierEditions(tx: Tx, address: string, newest: string): Promise<Edition[]> {
  return tx.rows<Edition>(sql`
    select sha256, part, label, retire_at from trust_imports
    where source = ${address} and retired_at is null and sha256 <> ${newest} order by imported_at`);
}

/** Certificates that are trusted because of this import alone, and go with it. */
export async function listItsOwnCertificates(
  db: Queryable,
  { sha256, part }: Pick<Edition, "sha256" | "part">,
): Promise<Buffer[]> {
  const rows = await db.rows<{ content: Buffer }>(sql`
    select t.content, p.position from trust_import_items p join trust_items t on t.sha256 = p.item_sha256
    where p.import_sha256 = ${sha256} and p.import_part = ${part} and t.kind = 'certificate'
      and not exists (
        select from trust_import_items q join trust_imports i on i.sha256 = q.import_sha256 and i.part = q.import_part
        where q.item_sha256 = p.item_sha256 and (q.import_sha256, q.import_part) <> (p.import_sha256, p.import_part)
          and i.retired_at is null and i.retire_at is null)
    union all
    select a.certificate, a.position from wallet_anchors a join trust_imports mine on mine.sha256 = a.import_sha256 and mine.part = a.import_part
    where a.import_sha256 = ${sha256} and a.import_part = ${part}
      and not exists (
        select from wallet_anchors b join trust_imports i on i.sha256 = b.import_sha256 and i.part = b.import_part
        where b.sha256 = a.sha256 and (b.import_sha256, b.import_part) <> (a.import_sha256, a.import_part)
          and i.purpose = mine.purpose and i.scope = mine.scope and i.retired_at is null and i.retire_at is null)
    order by position`);
  return rows.map(({ content }) => content);
}

export async function holdImport(
  tx: Tx,
  { sha256, part }: Pick<Edition, "sha256" | "part">,
  until: Date,
): Promise<void> {
  await tx.run(
    sql`update trust_imports set retire_at = ${until} where sha256 = ${sha256} and part = ${part}`,
  );
}

export async function retireImport(
  tx: Tx,
  { sha256, part }: Pick<Edition, "sha256" | "part">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update trust_imports set retired_at = ${now}
    where sha256 = ${sha256} and part = ${part} and retired_at is null`);
}

/** Whether it is still due to be retired, checked under the lock of that change. */
export async function isOverdue(
  tx: Tx,
  { sha256, part }: Pick<Edition, "sha256" | "part">,
  now: Date,
): Promise<boolean> {
  const row = await tx.first(sql`
    select from trust_imports
    where sha256 = ${sha256} and part = ${part} and retire_at <= ${now} and retired_at is null`);
  return row !== null;
}

export function listHeldImports(db: Queryable): Promise<(Edition & { source: string | null })[]> {
  return db.rows(sql`
    select sha256, part, label, source, retire_at from trust_imports
    where retire_at is not null and retired_at is null order by retire_at, sha256, part`);
}

export function listOverdueImports(db: Queryable, now: Date): Promise<Edition[]> {
  return db.rows<Edition>(sql`
    select sha256, part, label, retire_at from trust_imports
    where retire_at <= ${now} and retired_at is null order by retire_at, sha256, part`);
}

/** The operator keeps authorities that a later edition lacks. */
export async function keepImports(tx: Tx, sha256: string): Promise<readonly string[]> {
  const rows = await tx.rows<{ label: string }>(sql`
    update trust_imports set retire_at = null
    where sha256 = ${sha256} and retired_at is null and retire_at is not null returning label`);
  return rows.map(({ label }) => label);
}

/** Whether there is a list whose signer may be revoked and was not reported yet. */
export async function hasUnreportedLists(db: Queryable): Promise<boolean> {
  const { any } = await db.one<{ any: boolean }>(sql`
    select exists (
      select from trust_imports
      where signed_by is not null and purpose = 'passport' and retired_at is null and signer_revoked_told_at is null) as any`);
  return any;
}

/** Marks the lists of these files as reported; returns those that were not reported before. */
export function markRevokedSigners(
  tx: Tx,
  files: readonly string[],
  now: Date,
): Promise<{ sha256: string; label: string; signer: string }[]> {
  return tx.rows(sql`
    update trust_imports set signer_revoked_told_at = ${now}
    where sha256 = any(${files}::text[]) and signed_by is not null and retired_at is null
      and signer_revoked_told_at is null
    returning sha256, label, signed_by ->> 'signer' as signer`);
}
