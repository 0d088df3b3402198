import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import pg from "pg";
import { checkSchema, listMigrations, type Migration, migrate } from "../../../src/platform/db/migrate.ts";
import { systemClock } from "../../../src/platform/kernel/clock.ts";
import { createTestDatabase } from "../../support/database.ts";
import { assay } from "../../support/process.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";

const made = (name: string, text: string): Migration => ({ name, text, checksum: `of ${name} ${text}` });
const more = made(
  "9001_more.sql",
  "-- phase: expand\nalter table sessions add column made_by_a_test integer;",
);
const less = made(
  "9002_less.sql",
  "-- phase: contract, code since 9001\nalter table sessions drop column made_by_a_test;",
);
const last = made("9003_last.sql", "-- phase: expand\ncreate table made_by_a_test (a integer, b integer);");
const newer = [...listMigrations(), more, less, last];

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  after(() => client.end());
  return client;
}

test("what takes something away waits for the processes that need it, and they say when it was taken", async () => {
  // The previous release, which goes on while the next one migrates.
  const old = await startTestService({ clock: systemClock, role: "api" });
  const admin = await connect(old.databaseUrl);
  const putOff: string[] = [];
  const options = {
    migrations: newer,
    onPostponed: (name: string, processes: readonly string[]) => putOff.push(`${name} ${processes.join()}`),
  };
  assert.deepEqual(await migrate(old.databaseUrl, options), [more.name, last.name]);
  assert.equal(putOff.length, 1);
  assert.match(putOff[0] ?? "", /^9002_less\.sql process \d+ on ./);
  assert.equal((await old.api.get("/readyz")).status, 200);
  // Partly migrated, which is right for both: the new release can start, and so can the old one.
  await checkSchema(old.databaseUrl, { migrations: newer });
  await checkSchema(old.databaseUrl);

  await admin.query("update key_ring_processes set seen_at = now() - interval '31 seconds'");
  assert.deepEqual(await migrate(old.databaseUrl, { ...options, contract: "never" }), []);
  assert.deepEqual(await migrate(old.databaseUrl, options), [less.name]);
  const readiness = await old.api.get("/readyz");
  assert.equal(readiness.status, 503);
  assert.match(readiness.text, /too new for this release: it needs a release with migration 9001/);

  const dataDir = mkdtempSync(join(tmpdir(), "assay-versions-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const { code, stderr } = await assay(["start"], {
    DATA_DIR: dataDir,
    DATABASE_URL: old.databaseUrl,
    SECRET_KEYS: testRing,
    PORT: "0",
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^The database is too new for this release: it needs a release with migration 9001, and this one ends with \d{4}\. Start a newer release\. .*\.\n$/,
  );
  await assert.rejects(startTestService({ databaseUrl: old.databaseUrl, env: { SKIP_MIGRATIONS: "true" } }), {
    name: "ExplainedError",
    message: /^The database is too new for this release: it needs a release with migration 9001/,
  });
});

test("with SKIP_MIGRATIONS nothing is applied, and a database that lacks something is refused in a sentence", async () => {
  const { url } = await createTestDatabase();
  const [newest] = listMigrations().slice(-1);
  assert.ok(newest);
  const admin = await connect(url);
  const recorded = async () =>
    (await admin.query("select from schema_migrations where name = $1", [newest.name])).rowCount;
  const start = () => startTestService({ databaseUrl: url, env: { SKIP_MIGRATIONS: "true" } });
  await start();
  await admin.query("delete from schema_migrations where name = $1", [newest.name]);
  await assert.rejects(start(), {
    name: "ExplainedError",
    message: `The database is too old for this release: migrations are missing: ${newest.name}. Run \`assay migrate\`, or start without SKIP_MIGRATIONS.`,
  });
  assert.equal(await recorded(), 0);
});

test("a migration outside of a transaction goes on after it was ended at any statement, and after half an index", async () => {
  const { url } = await createTestDatabase();
  const admin = await connect(url);
  await admin.query("create table numbers as select i, i % 10 as j from generate_series(1, 1000) as i");
  const statements = [
    "create index concurrently if not exists numbers_j on numbers (j)",
    "create unique index concurrently if not exists numbers_i on numbers (i)",
    "drop index concurrently if exists numbers_gone",
  ];
  const text = (...some: string[]) => `-- phase: expand\n-- transaction: none\n${some.join(";\n")};`;
  const apply = (body: string) =>
    migrate(url, { migrations: [...listMigrations(), made("9001_indexes.sql", body)] });
  for (let at = 0; at <= statements.length; at++)
    await assert.rejects(apply(text(...statements.toSpliced(at, 0, "select 1 / 0"))), /division by zero/);
  // A unique index that fails stays behind unusable and occupies the name.
  await admin.query("drop index numbers_i");
  await admin.query("insert into numbers values (1, 1)");
  await assert.rejects(apply(text(...statements)), /numbers_i/);
  await admin.query("delete from numbers where ctid = (select max(ctid) from numbers where i = 1)");
  assert.deepEqual(await apply(text(...statements)), ["9001_indexes.sql"]);
  const { rows } = await admin.query(
    "select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'numbers'::regclass and i.indisvalid order by 1",
  );
  assert.deepEqual(rows, [{ name: "numbers_i" }, { name: "numbers_j" }]);
});
