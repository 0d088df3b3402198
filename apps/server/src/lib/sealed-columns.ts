import type { Db } from "../db/db.ts";
import { Sql, sql } from "../db/sql.ts";
import type { KeyPurpose, KeyRing } from "./key-ring.ts";

/**
 * Every column that holds sealed data. The context a value is bound to is always the text of its row's primary key
 * (hexadecimal for bytes), so that a rotation can re-seal all of them alike.
 */
export type SealedColumn = { table: string; id: string; column: string; purpose: KeyPurpose };

export const sealedColumns: readonly SealedColumn[] = [
  { table: "mails", id: "id", column: "content", purpose: "mail" },
  { table: "mail_requests", id: "id", column: "email", purpose: "mail" },
  { table: "second_factors", id: "user_id", column: "secret", purpose: "second-factor" },
  { table: "idempotent_answers", id: "id", column: "answer", purpose: "idempotent-answer" },
  { table: "organizations", id: "id", column: "document_id_key", purpose: "document-id" },
  { table: "webhook_endpoints", id: "id", column: "signing_secret", purpose: "webhook-secret" },
  { table: "receipt_keys", id: "id", column: "private_key", purpose: "deletion-receipt" },
  { table: "consent_receipt_keys", id: "id", column: "private_key", purpose: "consent-receipt" },
];

const batchSize = 200;

/** Re-seals under the current key whatever another key sealed; returns how many values. Safe to repeat and to interrupt. */
export async function resealAll(db: Db, ring: KeyRing): Promise<number> {
  let count = 0;
  for (const column of sealedColumns) {
    for (let done = -1; done !== 0; ) {
      done = await resealBatch(db, ring, column);
      count += done;
    }
  }
  return count;
}

async function resealBatch(
  db: Db,
  ring: KeyRing,
  { table, id, column, purpose }: SealedColumn,
): Promise<number> {
  // Names come from the list above, never from a caller.
  const name = (text: string) => new Sql([text], []);
  const prefix = Buffer.concat([Buffer.from([ring.currentId.length]), Buffer.from(ring.currentId)]);
  return db.transaction(async (tx) => {
    const rows = await tx.rows<{ id: string | Buffer; sealed: Buffer }>(sql`
      select ${name(id)} as id, ${name(column)} as sealed from ${name(table)}
      where ${name(column)} is not null and substring(${name(column)} from 1 for ${prefix.length}) <> ${prefix}
      limit ${batchSize} for update`);
    for (const row of rows) {
      const context = Buffer.isBuffer(row.id) ? row.id.toString("hex") : row.id;
      const fresh = ring.seal(purpose, ring.open(purpose, row.sealed, context), context);
      await tx.run(sql`update ${name(table)} set ${name(column)} = ${fresh} where ${name(id)} = ${row.id}`);
    }
    return rows.length;
  });
}
