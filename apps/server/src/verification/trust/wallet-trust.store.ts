import { createHash } from "node:crypto";
import type { Environment } from "@assay/contract/facts";
import type { ListKind, Purpose } from "@assay/credential/trust-anchor";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import type { WalletListType } from "./read-wallet-list.ts";

export type WalletImport = {
  sha256: string;
  purpose: Purpose;
  scope: Environment;
  type: WalletListType;
  label: string;
  importedAt: Date;
  nextUpdate: Date | null;
  signedBy: { signer: string; signerSha256: string; signedAt: string } | null;
  certificates: readonly Uint8Array[];
  /** Of authorities that sign status lists only, no credentials. */
  statusCertificates: readonly Uint8Array[];
};

/** A file may serve several purposes and scopes. Parts of passport imports have at most six digits. */
function partOf({ purpose, scope }: Pick<WalletImport, "purpose" | "scope">): number {
  const purposes: Record<Purpose, number> = { pid: 0, mdl: 1, age: 2 };
  return 1_000_000 + purposes[purpose] * 2 + (scope === "sandbox" ? 1 : 0);
}

/** Adds one import. Returns false if it exists already. */
export async function insertWalletImport(
  tx: Tx,
  list: WalletImport,
  source: string | null = null,
): Promise<boolean> {
  const part = partOf(list);
  const broughtBy = source === null ? "command" : "source";
  const added = await tx.run(sql`
    insert into trust_imports (sha256, part, type, label, imported_at, signed_by, brought_by, source, purpose, scope, next_update)
    values (${list.sha256}, ${part}, ${list.type}, ${list.label}, ${list.importedAt},
      ${list.signedBy === null ? null : JSON.stringify(list.signedBy)}, ${broughtBy}, ${source}, ${list.purpose}, ${list.scope},
      ${list.nextUpdate})
    on conflict (sha256, part) do update
    set label = excluded.label, imported_at = excluded.imported_at, brought_by = excluded.brought_by, source = excluded.source,
      retired_at = null, retire_at = null
    where trust_imports.retired_at is not null`);
  if (added === 0) return false;
  const anchors = [
    ...list.certificates.map((der) => ({ der: Buffer.from(der), signs: "credentials" })),
    ...list.statusCertificates.map((der) => ({ der: Buffer.from(der), signs: "status" })),
  ];
  const fingerprints = anchors.map(({ der }) => createHash("sha256").update(der).digest("hex"));
  await tx.run(sql`
    insert into wallet_anchors (import_sha256, import_part, position, sha256, certificate, signs)
    select ${list.sha256}, ${part}, position, sha256, certificate, signs
    from unnest(${fingerprints}::text[], ${anchors.map(({ der }) => der)}::bytea[], ${anchors.map(({ signs }) => signs)}::text[])
      with ordinality as anchor (sha256, certificate, signs, position)
    on conflict do nothing`);
  return true;
}

export type WalletAnchorRow = {
  purpose: Purpose;
  certificate: Buffer;
  sha256: string;
  signs: "credentials" | "status";
  type: WalletListType;
  nextUpdate: Date | null;
};

export function listWalletAnchors(db: Queryable, scope: Environment): Promise<WalletAnchorRow[]> {
  return db.rows<WalletAnchorRow>(sql`
    select i.purpose, a.certificate, a.sha256, a.signs, i.type, i.next_update
    from trust_imports i join wallet_anchors a on a.import_sha256 = i.sha256 and a.import_part = i.part
    where i.purpose <> 'passport' and i.scope = ${scope} and i.retired_at is null
    order by i.purpose, a.sha256`);
}

export type WalletImportRow = Pick<
  WalletImport,
  "sha256" | "purpose" | "scope" | "type" | "label" | "importedAt" | "nextUpdate"
> & {
  signer: string | null;
  anchors: number;
};

/** The imports in effect. */
export function listWalletImports(db: Queryable): Promise<WalletImportRow[]> {
  return db.rows<WalletImportRow>(sql`
    select sha256, purpose, scope, type, label, imported_at, next_update, signed_by ->> 'signer' as signer,
      (select count(*) from wallet_anchors
        where import_sha256 = i.sha256 and import_part = i.part and signs = 'credentials') as anchors
    from trust_imports i where purpose <> 'passport' and retired_at is null
    order by imported_at, sha256, part`);
}

/** Which kind of list a live anchor comes from, as evidence names it. */
export const listKinds: Record<WalletListType, ListKind> = {
  lote: "eu_list",
  vical: "vical",
  certificates: "operator",
};
