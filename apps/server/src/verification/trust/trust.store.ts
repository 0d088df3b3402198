import { createHash } from "node:crypto";
import type { TrustRecord, TrustSignature, TrustSourceType } from "@assay/emrtd/trust/trust-record";
import type { Db, Queryable, Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

/** What made a change: an operator's command, the folder of an older installation, or a source. */
type TrustActor = "command" | "folder" | "source";

export type TrustAct = {
  act:
    | "imported"
    | "taken_back"
    | "kept"
    | "removal_held"
    | "removal_carried_out"
    | "refused"
    | "signer_revoked";
  /** What it was done to, by its label. */
  subject: string;
  detail: string;
};

type RecordedTrustAct = TrustAct & { at: Date; version: number; actor: TrustActor };

export async function readTrustVersion(db: Queryable): Promise<number> {
  return (await db.one<{ version: number }>(sql`select version from trust_version`)).version;
}

export function readTrustChange(db: Queryable): Promise<{ version: number; changedAt: Date }> {
  return db.one(sql`select version, changed_at from trust_version`);
}

type ItemKind = "certificate" | "revocation_list" | "deviation_list";

type ImportRow = {
  version: number;
  sha256: string | null;
  type: TrustSourceType;
  label: string;
  importedAt: Date;
  signedBy: TrustSignature | null;
  certificates: Buffer[];
  revocationLists: Buffer[];
  deviationLists: Buffer[];
};

/** Everything trusted for passports, with its version. One statement, so of one snapshot. */
export async function readTrust(
  db: Queryable,
): Promise<{ version: number; records: readonly TrustRecord[] }> {
  const contentsOf = (kind: ItemKind) => sql`
      array(select t.content from trust_import_items p join trust_items t on t.sha256 = p.item_sha256
        where p.import_sha256 = i.sha256 and p.import_part = i.part and t.kind = ${kind}
        order by p.position)`;
  const rows = await db.rows<ImportRow>(sql`
    select v.version, i.sha256, i.type, i.label, i.imported_at, i.signed_by,
      ${contentsOf("certificate")} as certificates,
      ${contentsOf("revocation_list")} as revocation_lists,
      ${contentsOf("deviation_list")} as deviation_lists
    from trust_version v left join trust_imports i on i.retired_at is null and i.purpose = 'passport'
    order by i.imported_at, i.sha256, i.part`);
  return {
    version: rows[0]?.version ?? 0,
    records: rows.flatMap((row) => (row.sha256 === null ? [] : [recordOf(row, row.sha256)])),
  };
}

function recordOf(row: ImportRow, sha256: string): TrustRecord {
  return {
    source: {
      type: row.type,
      label: row.label,
      sha256,
      importedAt: row.importedAt.toISOString(),
      signedBy: row.signedBy,
    },
    certificates: row.certificates,
    revocationLists: row.revocationLists,
    ...(row.deviationLists.length === 0 ? {} : { deviationLists: row.deviationLists }),
  };
}

/** Changes run one after another. The version increases only if a change had an effect. */
export function changeTrust(
  db: Db,
  now: Date,
  actor: TrustActor,
  work: (tx: Tx) => Promise<readonly TrustAct[]>,
): Promise<readonly TrustAct[]> {
  return db.transaction(async (tx) => {
    const { version } = await tx.one<{ version: number }>(
      sql`select version + 1 as version from trust_version for update`,
    );
    const acts = await work(tx);
    if (acts.length === 0) return acts;
    await tx.run(sql`update trust_version set version = ${version}, changed_at = ${now}`);
    for (const act of acts) await insertAct(tx, now, version, actor, act);
    return acts;
  });
}

/** Logs an act without effect, such as a refused list. */
export async function recordTrustAct(tx: Tx, now: Date, actor: TrustActor, act: TrustAct): Promise<void> {
  const { version } = await tx.one<{ version: number }>(sql`select version from trust_version for update`);
  await insertAct(tx, now, version, actor, act);
}

async function insertAct(
  tx: Tx,
  now: Date,
  version: number,
  actor: TrustActor,
  { act, subject, detail }: TrustAct,
): Promise<void> {
  await tx.run(sql`
    insert into trust_acts (number, at, version, actor, act, subject, detail)
    select coalesce(max(number), 0) + 1, ${now}, ${version}, ${actor}, ${act}, ${subject}, ${detail}
    from trust_acts`);
}

/**
 * Adds one import. Returns false if it exists already. Only an operator's command restores a removed import:
 * the folder of an older installation still has its file.
 */
export async function insertImport(
  tx: Tx,
  record: TrustRecord,
  part: number,
  broughtBy: TrustActor,
  address: string | null = null,
): Promise<boolean> {
  const { source } = record;
  const mayReturn = broughtBy !== "folder";
  const added = await tx.run(sql`
    insert into trust_imports (sha256, part, type, label, imported_at, signed_by, brought_by, source)
    values (${source.sha256}, ${part}, ${source.type}, ${source.label}, ${new Date(source.importedAt)},
      ${source.signedBy === null ? null : JSON.stringify(source.signedBy)}, ${broughtBy}, ${address})
    on conflict (sha256, part) do update
    set label = excluded.label, imported_at = excluded.imported_at, signed_by = excluded.signed_by,
      brought_by = excluded.brought_by, source = excluded.source, retired_at = null, retire_at = null,
      signer_revoked_told_at = null
    where ${mayReturn} and trust_imports.retired_at is not null`);
  if (added === 0) return false;
  await insertItems(tx, record, part);
  return true;
}

async function insertItems(tx: Tx, record: TrustRecord, part: number): Promise<void> {
  const of = (kind: ItemKind, contents: readonly Uint8Array[]) =>
    contents.map((content) => ({ kind, content }));
  const items = [
    ...of("certificate", record.certificates),
    ...of("revocation_list", record.revocationLists),
    ...of("deviation_list", record.deviationLists ?? []),
  ].map((item) => ({ ...item, sha256: createHash("sha256").update(item.content).digest("hex") }));
  const fingerprints = items.map(({ sha256 }) => sha256);
  await tx.run(sql`
    insert into trust_items (sha256, kind, content)
    select * from unnest(${fingerprints}::text[], ${items.map(({ kind }) => kind)}::text[],
      ${items.map(({ content }) => Buffer.from(content))}::bytea[])
    on conflict (sha256) do nothing`);
  await tx.run(sql`
    insert into trust_import_items (import_sha256, import_part, position, item_sha256)
    select ${record.source.sha256}, ${part}, position, sha256
    from unnest(${fingerprints}::text[]) with ordinality as item (sha256, position)
    on conflict do nothing`);
}

/** Removes the imports of files whose fingerprint has this prefix, and returns their labels. */
export async function retireImports(tx: Tx, sha256Prefix: string, now: Date): Promise<readonly string[]> {
  const rows = await tx.rows<{ label: string }>(sql`
    update trust_imports set retired_at = ${now}
    where starts_with(sha256, ${sha256Prefix}) and retired_at is null returning label`);
  return rows.map(({ label }) => label);
}

/** The fingerprints with this prefix of files whose imports are in effect. */
export async function findImportedFiles(db: Queryable, sha256Prefix: string): Promise<readonly string[]> {
  const rows = await db.rows<{ sha256: string }>(sql`
    select distinct sha256 from trust_imports
    where starts_with(sha256, ${sha256Prefix}) and retired_at is null order by sha256`);
  return rows.map(({ sha256 }) => sha256);
}

export function listTrustActs(db: Queryable, limit: number): Promise<RecordedTrustAct[]> {
  return db.rows<RecordedTrustAct>(sql`
    select at, version, actor, act, subject, detail from trust_acts order by number desc limit ${limit}`);
}

/** Whether at least one authority is trusted in live, of passports or of wallet credentials. */
export async function hasTrustedAuthority(db: Queryable): Promise<boolean> {
  const { any } = await db.one<{ any: boolean }>(sql`
    select exists (
      select from trust_imports i join trust_import_items p on p.import_sha256 = i.sha256 and p.import_part = i.part
      join trust_items t on t.sha256 = p.item_sha256
      where i.retired_at is null and i.purpose = 'passport' and t.kind = 'certificate')
      or exists (
        select from trust_imports i join wallet_anchors a on a.import_sha256 = i.sha256 and a.import_part = i.part
        where i.retired_at is null and i.purpose <> 'passport' and i.scope = 'live') as any`);
  return any;
}
