import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import test, { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openDb } from "../../src/db/db.ts";
import { listMigrations, migrate } from "../../src/db/migrate.ts";
import { listParts } from "../../src/db/parts.store.ts";
import type { DividedTable } from "../../src/db/parts.ts";
import { Sql, sql } from "../../src/db/sql.ts";
import { hourMs, later } from "../../src/kernel/clock.ts";
import { newId, newUuid } from "../../src/kernel/ids.ts";
import { growingTables } from "../../src/retention/divided-tables.store.ts";
import { createTestDatabase } from "../support/database.ts";
import { cleanEnvironment } from "../support/process.ts";
import { testRing } from "../support/service.ts";

const kills = Number(process.env.ASSAY_TEST_KILLS ?? 5);
// On a quiet machine dividing all six tables takes about three times as long.
const longestMs = 200;

const database = await createTestDatabase({ empty: true });
const db = openDb({ url: database.url, poolSize: 3, onError: () => {} });
after(async () => {
  await db.close();
  await database.drop();
});

/** A row of each table that grows for each moment, in one statement for each table. */
async function insertRows(moments: readonly Date[]): Promise<void> {
  const rows = sql`unnest(${moments}::timestamptz[], ${moments.map((at) => newId("vs", at))}::text[], ${moments.map((at) => newId("va", at))}::text[],
    ${moments.map((at) => newId("evt", at))}::text[], ${moments.map((at) => newId("whd", at))}::text[], ${moments.map((at) => newUuid(at))}::uuid[])
    as t (at, session, attempt, event, delivery, entry)`;
  const owner = sql`'00000000-0000-7000-8000-000000000001'::uuid`;
  for (const statement of [
    sql`insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox, cancel_token_hash, expires_at, created_at, updated_at)
      select session, ${owner}, 'created', 1, '{}', '{"a":"b"}', true, '\\x01', at, at, at from ${rows}`,
    sql`insert into attempts (id, session_id, organization_id, sandbox, status, session_expires_at, created_at, updated_at)
      select attempt, session, ${owner}, true, 'in_progress', at, at, at from ${rows}`,
    sql`insert into consents (session_id, organization_id, id, selected_field_keys, terms_version, terms_hash, receipt, cancel_token_hash, given_at)
      select session, ${owner}, entry, '{date_of_birth}', '1', 'hash', repeat('receipt', 100), '\\x01', at from ${rows}`,
    sql`insert into events (id, organization_id, type, session_id, sandbox, created_at)
      select event, ${owner}, 'verification.session.expired', session, true, at from ${rows}`,
    sql`insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, status, attempt_count, created_at, updated_at)
      select delivery, ${owner}, true, event, 'verification.session.expired', 'whe_1', 'succeeded', 1, at, at from ${rows}`,
    sql`insert into audit_logs (id, organization_id, event, actor_kind, target_id, created_at, sandbox)
      select entry, ${owner}, 'session.created', 'system', session, at, true from ${rows}`,
  ])
    assert.equal(await db.run(statement), moments.length);
}

/** How many rows a table holds up to a moment, and what is in them. */
async function contents({ table }: DividedTable, until: Date): Promise<{ count: number; hash: string }> {
  const at = new Sql([table === "consents" ? "given_at" : "created_at"], []);
  return db.one(sql`
    select count(*) as count, md5(string_agg(md5(t::text), '' order by t::text)) as hash from ${new Sql([table], [])} t where ${at} <= ${until}`);
}

/** Divides the tables until it is killed, which it may not live to see. */
async function divide(killAfterMs: number | null): Promise<number | null> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../support/divide-process.ts")], {
    env: cleanEnvironment({ DATABASE_URL: database.url, SECRET_KEYS: testRing }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  if (killAfterMs !== null) {
    await wait(killAfterMs);
    child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

test("a database of the release before is divided while others write, by processes that are killed at random, without losing or changing a row", async () => {
  await migrate(database.url, { migrations: listMigrations().filter(({ name }) => name < "0082") });
  const filled = new Date();
  const rows = 2_000;
  await insertRows(Array.from({ length: rows }, (_, i) => later(filled, -i * hourMs)));
  await migrate(database.url);
  const before = await Promise.all(growingTables.map((table) => contents(table, filled)));
  assert.deepEqual(
    before.map(({ count }) => count),
    growingTables.map(() => rows),
  );

  let written = 0;
  let writing = true;
  const writer = (async () => {
    for (; writing; written++) {
      // Never in the millisecond of what was there before.
      await insertRows([later(new Date(), 1)]);
      await wait(5);
    }
  })();
  for (let kill = 0; kill < kills; kill++) await divide(Math.random() * longestMs);
  assert.equal(await divide(null), 0);
  writing = false;
  await writer;

  for (const table of growingTables) {
    const names = ((await listParts(db, table.table)) ?? []).map(({ name }) => name);
    assert.deepEqual([names[0], names.at(-1)], [`${table.table}_before`, `${table.table}_rest`]);
    const all = await contents(table, later(new Date(), hourMs));
    assert.equal(all.count, rows + written, `${table.table} has every row that was written`);
  }
  assert.deepEqual(await Promise.all(growingTables.map((table) => contents(table, filled))), before);
  const checks = sql`select conname from pg_constraint where conname like '%_ends_before'`;
  assert.deepEqual(await db.rows(checks), []);
});
