import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { listMigrations } from "../../src/platform/db/migrate.ts";
import { createTestDatabase } from "./database.ts";

test("every test database has all migrations and nothing of another one", async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const client = new pg.Client({ connectionString: one.url });
  const other = new pg.Client({ connectionString: two.url });
  await Promise.all([client.connect(), other.connect()]);
  try {
    const applied = await client.query("select name from schema_migrations order by name");
    assert.deepEqual(
      applied.rows.map((row) => row.name),
      listMigrations().map((migration) => migration.name),
    );
    await client.query("create table only_here (id int)");
    assert.equal((await other.query("select to_regclass('only_here') as found")).rows[0].found, null);
  } finally {
    await Promise.all([client.end(), other.end()]);
    await Promise.all([one.drop(), two.drop()]);
  }
});
