import type { Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";

export async function hasChipPassed(db: Queryable, sessionId: string): Promise<boolean> {
  const row = await db.first<{ passed: boolean }>(
    sql`select chip_passed_at is not null as passed from sessions where id = ${sessionId}`,
  );
  return row?.passed ?? false;
}

export async function markChipPassed(tx: Tx, sessionId: string, now: Date): Promise<void> {
  await tx.run(
    sql`update sessions set chip_passed_at = coalesce(chip_passed_at, ${now}) where id = ${sessionId}`,
  );
}
