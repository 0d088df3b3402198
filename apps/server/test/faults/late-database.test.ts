import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import pg from "pg";
import { listMigrations, migrate } from "../../src/platform/db/migrate.ts";
import { Api } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { assay, spawnAssay } from "../support/process.ts";
import { SilentProxy } from "../support/silent-proxy.ts";
import { testRing } from "../support/test-ring.ts";
import { until } from "../support/until.ts";

const dataDir = mkdtempSync(join(tmpdir(), "assay-late-"));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const environment = { DATA_DIR: dataDir, SECRET_KEYS: testRing };

test("a service that is started before its database waits for it, and says so", async () => {
  const database = await createTestDatabase();
  const port = await freePort();
  const proxy = new SilentProxy();
  const service = spawnAssay({ ...environment, DATABASE_URL: SilentProxy.addressOf(database.url, port) });
  await until("the service says that it waits", () => {
    assert.equal(service.child.exitCode, null, service.output());
    return service.output().includes("the database does not answer yet; waiting");
  });
  await proxy.start(database.url, port);
  const url = await service.listening;
  assert.equal((await new Api(url).get("/readyz")).status, 200);
  assert.equal(await service.stop(), 0);
});

test("a database that never comes is reported in a sentence after the time that was given", async () => {
  const { code, stderr } = await assay(["start"], {
    ...environment,
    DATABASE_URL: `postgres://nobody@127.0.0.1:${await freePort()}/none`,
    DATABASE_START_WAIT_SECONDS: "1",
  });
  assert.equal(code, 1);
  assert.match(stderr, /^The database does not answer: connect ECONNREFUSED .*DATABASE_START_WAIT_SECONDS/);
  assert.doesNotMatch(stderr, /^ {4}at /m);
});

test("a database that refuses is not waited for", async () => {
  const url = new URL((await createTestDatabase()).url);
  url.pathname = "/no_such_database";
  const { code, stderr } = await assay(["start"], { ...environment, DATABASE_URL: url.href });
  assert.equal(code, 1);
  assert.match(stderr, /^The database refuses the connection: database "no_such_database" does not exist\./);
});

test("a migration that waits for a long transaction lets others through between its tries", async () => {
  const database = await createTestDatabase();
  const holder = new pg.Client({ connectionString: database.url });
  const reader = new pg.Client({ connectionString: database.url, statement_timeout: 10_000 });
  await Promise.all([holder.connect(), reader.connect()]);
  await holder.query("begin");
  await holder.query("select from sessions");

  const text = "alter table sessions add column made_by_a_test integer";
  const migrations = [...listMigrations(), { name: "9999_test.sql", text, checksum: "of a test" }];
  const options = { migrations, lockMs: 200 };
  await assert.rejects(
    migrate(database.url, { ...options, giveUpAfterMs: 100 }),
    /could not be migrated: waited \d+ seconds for a lock that migration 9999_test.sql needs/,
  );

  const told: string[] = [];
  const migrating = migrate(database.url, { ...options, warn: (message) => told.push(message) });
  await until("it was told twice", async () => {
    // Waits for the migration, and then succeeds.
    await reader.query("select from sessions");
    return told.length >= 2;
  });
  assert.deepEqual([...new Set(told)], ["waiting for a lock that migration 9999_test.sql needs"]);
  await holder.query("rollback");
  assert.deepEqual(await migrating, ["9999_test.sql"]);
  await Promise.all([holder.end(), reader.end()]);
});
