import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import pg from "pg";
import { checkSchema, listMigrations, type Migration, migrate } from "../../src/db/migrate.ts";
import { listParts } from "../../src/db/parts.store.ts";
import { sql } from "../../src/db/sql.ts";
import { dayMs, later, systemClock } from "../../src/kernel/clock.ts";
import { createPartner } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { divideSince } from "../support/parts.ts";
import { assay } from "../support/process.ts";
import { startTestService, testRing } from "../support/service.ts";
import { createSession } from "../support/sessions.ts";

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
  // The release before, which runs on while the next one migrates.
  const old = await startTestService({ clock: systemClock, role: "api" });
  const admin = await connect(old.databaseUrl);
  const putOff: string[] = [];
  const options = {
    migrations: newer,
    onPutOff: (name: string, processes: readonly string[]) => putOff.push(`${name} ${processes.join()}`),
  };
  assert.deepEqual(await migrate(old.databaseUrl, options), [more.name, last.name]);
  assert.equal(putOff.length, 1);
  assert.match(putOff[0] ?? "", /^9002_less\.sql process \d+ on ./);
  assert.equal((await old.api.get("/readyz")).status, 200);
  // Half migrated, and right for both: the new release can start, and so can the old one again.
  await checkSchema(old.databaseUrl, { migrations: newer });
  await checkSchema(old.databaseUrl);

  await admin.query("update process_reports set seen_at = now() - interval '31 seconds'");
  assert.deepEqual(await migrate(old.databaseUrl, { ...options, contract: "never" }), []);
  assert.deepEqual(await migrate(old.databaseUrl, options), [less.name]);
  const readiness = await old.api.get("/readyz");
  assert.equal(readiness.status, 503);
  assert.match(readiness.text, /too new for this release: it needs one that contains migration 9001/);

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
    /^The database is too new for this release: it needs one that contains migration 9001, and this one ends with \d{4}\. Start a newer release; .*\.\n$/,
  );
  await assert.rejects(startTestService({ databaseUrl: old.databaseUrl, env: { SKIP_MIGRATIONS: "true" } }), {
    name: "MigrationError",
    message: /^The database is too new for this release: it needs one that contains migration 9001/,
  });
});

test("what is added and taken away again reaches every part of a table, and those that are made and dropped after it", async () => {
  const { api, clock, core, databaseUrl, runJob } = await startTestService({
    config: { databaseParts: "all" },
  });
  await divideSince(core, 25);
  const partner = await createPartner(api);
  const before = await createSession(partner.api);
  const admin = await connect(databaseUrl);
  const withColumn = async () =>
    (
      await admin.query(
        `select relid::regclass::text as name from pg_partition_tree('sessions') join pg_attribute on attrelid = relid
         where attname = 'made_by_a_test' order by 1`,
      )
    ).rows.map(({ name }) => name);
  const namesOfParts = async () =>
    ((await listParts(core.db, "sessions")) ?? [])
      .map(({ name }) => name)
      .concat("sessions")
      .sort();

  assert.deepEqual(await migrate(databaseUrl, { migrations: newer, contract: "never" }), [
    more.name,
    last.name,
  ]);
  clock.advance(14 * dayMs);
  await runJob("keep-parts");
  assert.deepEqual(await withColumn(), await namesOfParts());
  await createSession(partner.api);

  await admin.query("delete from process_reports");
  assert.deepEqual(await migrate(databaseUrl, { migrations: newer }), [less.name]);
  assert.deepEqual(await withColumn(), []);
  const parts = await namesOfParts();
  await core.db.run(
    sql`update sessions set completed_at = ${later(clock.now(), 30 * dayMs)}, status = 'cancelled' where id = ${before}`,
  );
  clock.advance(40 * dayMs);
  await runJob("keep-parts");
  assert.notDeepEqual(await namesOfParts(), parts);
  // Made before the column was there, put into the rest after it was gone.
  const { rows } = await admin.query("select tableoid::regclass::text as part from sessions where id = $1", [
    before,
  ]);
  assert.deepEqual(rows, [{ part: "sessions_rest" }]);
});

test("an index that is made while others write reaches every part of a divided table", async () => {
  const { core, databaseUrl } = await startTestService({ config: { databaseParts: "all" } });
  await divideSince(core, 1);
  const text =
    "-- phase: expand\n-- transaction: none\ncreate index concurrently if not exists made_by_a_test on sessions (created_at);";
  const migration = { name: "9990_index.sql", text, checksum: "index" };
  await migrate(databaseUrl, { migrations: [...listMigrations(), migration] });
  const admin = await connect(databaseUrl);
  const { rows } = await admin.query(
    `select count(*)::int as parts, (select count(*)::int from pg_partition_tree('made_by_a_test') where isleaf) as indexes
     from pg_partition_tree('sessions') where isleaf`,
  );
  assert.ok(rows[0].parts > 0);
  assert.equal(rows[0].indexes, rows[0].parts);
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
    name: "MigrationError",
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
  // A unique index that fails stays behind, serves nobody and has the name.
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
