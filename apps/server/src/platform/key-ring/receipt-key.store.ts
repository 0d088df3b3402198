import { firstRow, type Queryable, type Question } from "../db/db.ts";
import { sql } from "../db/sql.ts";

/** What a key signs. Each kind has its own key, so that a receipt of one kind never passes for another. */
export type ReceiptKind = "consent-receipt" | "deletion-receipt";
export type ReceiptKeyRow = { id: string; publicKey: Buffer; privateKey: Buffer };

const tables = { "consent-receipt": sql`consent_receipt_keys`, "deletion-receipt": sql`receipt_keys` };

export function receiptKeyOf(kind: ReceiptKind): Question<ReceiptKeyRow | null> {
  return firstRow<ReceiptKeyRow>(sql`select id, public_key, private_key from ${tables[kind]}`);
}

export function findReceiptKey(db: Queryable, kind: ReceiptKind): Promise<ReceiptKeyRow | null> {
  return db.first<ReceiptKeyRow>(receiptKeyOf(kind).statement);
}

/** If two processes need the first key at once, only one creates it. */
export async function insertReceiptKey(
  db: Queryable,
  kind: ReceiptKind,
  key: ReceiptKeyRow,
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into ${tables[kind]} (id, public_key, private_key, created_at)
    values (${key.id}, ${key.publicKey}, ${key.privateKey}, ${now})
    on conflict do nothing`);
}
