import { createHash, randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import type { Queryable } from "../../src/platform/db/db.ts";
import { listMigrations, migrate } from "../../src/platform/db/migrate.ts";
import { sql } from "../../src/platform/db/sql.ts";

/** A new database for a test file, with every migration applied, or empty. */
export async function createTestDatabase(
  options: { empty?: boolean } = {},
): Promise<{ url: string; drop(): Promise<void> }> {
  const adminUrl = testPostgresUrl();
  const template = options.empty === true ? "template0" : await ensureTemplate(adminUrl);
  // The process id says whose database it was, for the cleanup.
  const name = `assay_test_${process.pid}_${randomBytes(8).toString("hex")}`;
  // The default strategy, through the log, takes PostgreSQL twice the processor time.
  const create = `create database ${name} template ${template} strategy file_copy`;
  await asAdmin(adminUrl, (admin) => admin.query(create));
  return {
    url: withDatabase(adminUrl, name),
    async drop() {
      // Connections that a test left behind must not keep the database.
      await asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

/** The same address with another database. */
export function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${encodeURIComponent(name)}`;
  return parsed.href;
}

export function testPostgresUrl(): string {
  const url = process.env.ASSAY_TEST_POSTGRES;
  if (url === undefined || url === "") {
    throw new Error("ASSAY_TEST_POSTGRES is not set: run tests with `npm test -- <part of the file name>`");
  }
  return url;
}

/**
 * Created by the first test file that needs it. The name contains a hash of the migrations, so a long-lived
 * server has no stale schema.
 */
async function ensureTemplate(adminUrl: string): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, checksum } of listMigrations()) hash.update(`${name}\0${checksum}\0`);
  const template = `assay_template_${hash.digest("hex").slice(0, 24)}`;
  await asAdmin(adminUrl, async (admin) => {
    await admin.query("select pg_advisory_lock(hashtextextended($1, 0))", [template]);
    const found = await admin.query("select from pg_database where datname = $1", [template]);
    if (found.rowCount !== 0) return;
    // Created under another name first, so that a killed process leaves no incomplete template.
    const building = `${template}_new`;
    await admin.query(`drop database if exists ${building} with (force)`);
    await admin.query(
      `create database ${building} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`,
    );
    await migrate(withDatabase(adminUrl, building));
    await admin.query(`alter database ${building} rename to ${template}`);
  });
  return template;
}

/** Resolves once this number of statements in this database wait for a lock. */
export async function untilBlocked(db: Queryable, count = 1): Promise<void> {
  const deadline = Date.now() + 100_000;
  const waits = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await db.rows(waits)).length < count) {
    if (Date.now() > deadline) throw new Error(`${count} have not come to wait for a lock`);
    await setTimeout(5);
    // A transaction does not see connections that were opened after its first look.
    await db.rows(sql`select pg_stat_clear_snapshot()`);
  }
}

async function asAdmin<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: "assay tests" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
