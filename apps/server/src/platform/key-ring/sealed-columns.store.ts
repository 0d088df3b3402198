import type { Db, Queryable, Tx } from "../db/db.ts";
import { failureReason, isolateFailures } from "../db/isolate-failures.ts";
import { quarantineRow, releaseAllRows } from "../db/quarantine.store.ts";
import { noSql, Sql, sql } from "../db/sql.ts";
import type { KeyPurpose, KeyRing } from "../lib/key-ring.ts";

/**
 * Every column with sealed data. The context of a value is always the text of its row's primary key
 * (hexadecimal for bytes), so a rotation can reseal all columns alike.
 */
export type SealedColumn = { table: string; id: string; column: string; purpose: KeyPurpose };

export const sealedColumns: readonly SealedColumn[] = [
  { table: "mails", id: "id", column: "content", purpose: "mail" },
  { table: "mail_requests", id: "id", column: "email", purpose: "mail" },
  { table: "second_factors", id: "user_id", column: "secret", purpose: "second-factor" },
  { table: "idempotent_answers", id: "id", column: "request_digest", purpose: "request-hash" },
  { table: "idempotent_answers", id: "id", column: "answer", purpose: "idempotent-answer" },
  { table: "organizations", id: "id", column: "document_id_key", purpose: "document-id" },
  { table: "wallet_requests", id: "id_hash", column: "response_key_sealed", purpose: "wallet-response" },
  { table: "webhook_endpoints", id: "id", column: "signing_secret", purpose: "webhook-secret" },
  { table: "webhook_endpoints", id: "id", column: "previous_signing_secret", purpose: "webhook-secret" },
  { table: "deletion_receipts", id: "organization_id", column: "content", purpose: "deletion-receipt" },
  { table: "receipt_keys", id: "id", column: "private_key", purpose: "deletion-receipt" },
  { table: "consent_receipt_keys", id: "id", column: "private_key", purpose: "consent-receipt" },
  { table: "wallet_identities", id: "id", column: "private_key_sealed", purpose: "wallet-identity" },
];

/**
 * Columns that name the key of a hash. A hash cannot be recomputed, so its key stays until each was used or
 * has expired. `what` completes "Key 1 stays: ".
 */
export type KeyedHashColumn = { table: string; column: string; expires: string | null; what: string };

export const keyedHashColumns: readonly KeyedHashColumn[] = [
  {
    table: "api_keys",
    column: "hash_key_id",
    expires: null,
    what: "API keys that were not used since the rotation still need it.",
  },
  {
    table: "deletion_codes",
    column: "hash_key_id",
    expires: "expires_at",
    what: "mailed codes to delete an organization, valid for a day, still need it.",
  },
];

const batchSize = 200;

// Names come from the lists above, never from a caller.
const name = (text: string) => new Sql([text], []);

function prefixOf(keyId: string): Buffer {
  return Buffer.concat([Buffer.from([keyId.length]), Buffer.from(keyId)]);
}

function contextOf(id: string | Buffer): string {
  return Buffer.isBuffer(id) ? id.toString("hex") : id;
}

/**
 * The name under which values that cannot be resealed are quarantined. No job runs under it: each call
 * retries all of them.
 */
export const resealJob = "seal-anew";

/**
 * Reseals with the current key what another key sealed. Values that cannot be opened or stored stay as they
 * are and are quarantined. Safe to repeat and to interrupt.
 */
export async function resealAll(
  db: Db,
  ring: KeyRing,
  now: Date,
): Promise<{ resealed: number; stuck: number }> {
  let resealed = 0;
  let stuck = 0;
  await releaseAllRows(db, resealJob);
  for (const column of sealedColumns) {
    const failed: RowId[] = [];
    for (;;) {
      const rows = await listOtherwiseSealed(db, ring, column, failed);
      const before = resealed + failed.length;
      if (rows.length === 0) break;
      await isolateFailures(rows, {
        process: async (some) => {
          resealed += await resealRows(db, ring, column, some);
        },
        quarantine: async (id, error) => {
          failed.push(id);
          await quarantineRow(db, {
            job: resealJob,
            kind: column.table,
            rowId: contextOf(id),
            organizationId: null,
            reason: failureReason(error),
            now,
            // Retried by the next call, whenever that is.
            firstRetryMs: 0,
            lastRetryMs: 0,
          });
        },
      });
      // Other processes have changed or removed all of them meanwhile, so another pass gains nothing.
      if (resealed + failed.length === before) break;
    }
    stuck += failed.length;
  }
  return { resealed, stuck };
}

type RowId = string | Buffer;

/** Condition for values that another key than the current one has sealed. */
function sealedOtherwise(ring: KeyRing, column: string): Sql {
  const prefix = prefixOf(ring.currentId);
  return sql`${name(column)} is not null and substring(${name(column)} from 1 for ${prefix.length}) <> ${prefix}`;
}

async function listOtherwiseSealed(
  db: Queryable,
  ring: KeyRing,
  { table, id, column }: SealedColumn,
  failed: readonly RowId[],
): Promise<RowId[]> {
  const except = failed.length === 0 ? noSql : sql`and not (${name(id)} = any(${failed}))`;
  const rows = await db.rows<{ id: RowId }>(sql`
    select ${name(id)} as id from ${name(table)}
    where ${sealedOtherwise(ring, column)} ${except} limit ${batchSize}`);
  return rows.map((row) => row.id);
}

async function resealRows(
  db: Db,
  ring: KeyRing,
  { table, id, column, purpose }: SealedColumn,
  ids: readonly RowId[],
): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await tx.rows<{ id: RowId; sealed: Buffer }>(sql`
      select ${name(id)} as id, ${name(column)} as sealed from ${name(table)}
      where ${name(id)} = any(${ids}) and ${sealedOtherwise(ring, column)} for update`);
    for (const row of rows) {
      const context = contextOf(row.id);
      const fresh = ring.seal(purpose, ring.open(purpose, row.sealed, context), context);
      await tx.run(sql`update ${name(table)} set ${name(column)} = ${fresh} where ${name(id)} = ${row.id}`);
    }
    return rows.length;
  });
}

export async function countSealedWith(db: Queryable, keyId: string): Promise<number> {
  const prefix = prefixOf(keyId);
  let count = 0;
  for (const { table, column } of sealedColumns) {
    const row = await db.one<{ count: number }>(sql`
      select count(*) from ${name(table)}
      where substring(${name(column)} from 1 for ${prefix.length}) = ${prefix}`);
    count += row.count;
  }
  return count;
}

/** The stored hashes that still need a key, as sentences. */
export async function hashesUnder(db: Queryable, keyId: string, now: Date): Promise<string[]> {
  const found: string[] = [];
  for (const { table, column, expires, what } of keyedHashColumns) {
    const alive = expires === null ? sql`true` : sql`${name(expires)} > ${now}`;
    const row = await db.first(
      sql`select 1 as found from ${name(table)} where ${name(column)} = ${keyId} and ${alive} limit 1`,
    );
    if (row !== null) found.push(what);
  }
  return found;
}

/**
 * For a database without a known ring: opens one value of each column and key. Returns what does not open, as
 * sentences. Reads every sealed column once.
 */
export async function findUnreadable(tx: Tx, ring: KeyRing): Promise<string[]> {
  const missing = new Set<string>();
  const wrong = new Set<string>();
  for (const { table, id, column, purpose } of sealedColumns) {
    const rows = await tx.rows<{ id: string | Buffer; key: string; sealed: Buffer }>(sql`
      select distinct on (key) sealed_under(${name(column)}) as key, ${name(id)} as id, ${name(column)} as sealed
      from ${name(table)} where ${name(column)} is not null order by key`);
    for (const row of rows) {
      if (!ring.keys.some((key) => key.id === row.key)) missing.add(row.key);
      else if (!opens(ring, purpose, row.sealed, contextOf(row.id))) wrong.add(row.key);
    }
  }
  for (const { table, column } of keyedHashColumns) {
    const rows = await tx.rows<{ key: string }>(
      sql`select distinct ${name(column)} as key from ${name(table)} where ${name(column)} is not null`,
    );
    for (const row of rows) if (!ring.keys.some((key) => key.id === row.key)) missing.add(row.key);
  }
  return [
    ...[...missing].map((key) => `The key ring has no key "${key}", and data in the database needs it.`),
    ...[...wrong].map(
      (key) => `Key "${key}" of the ring does not open data that was sealed with key "${key}".`,
    ),
  ];
}

function opens(ring: KeyRing, purpose: KeyPurpose, sealed: Buffer, context: string): boolean {
  try {
    ring.open(purpose, sealed, context);
    return true;
  } catch {
    return false;
  }
}
