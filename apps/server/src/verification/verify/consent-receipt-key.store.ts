import { firstRow, type Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";

export type ConsentReceiptKeyRow = { id: string; public_key: Buffer; private_key: Buffer };

export const consentReceiptKey = firstRow<ConsentReceiptKeyRow>(
  sql`select id, public_key, private_key from consent_receipt_keys`,
);

export function findConsentReceiptKey(db: Queryable): Promise<ConsentReceiptKeyRow | null> {
  return db.first<ConsentReceiptKeyRow>(consentReceiptKey.statement);
}

/** Of two processes that need the first key at once, one makes it. */
export async function insertConsentReceiptKey(
  db: Queryable,
  key: ConsentReceiptKeyRow,
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into consent_receipt_keys (id, public_key, private_key, created_at)
    values (${key.id}, ${key.public_key}, ${key.private_key}, ${now})
    on conflict do nothing`);
}
