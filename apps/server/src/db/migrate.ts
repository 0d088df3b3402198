import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import type { Queryable } from "./db.ts";
import { sql } from "./sql.ts";

export type Migration = { name: string; text: string; checksum: string };

const migrationsFolder = new URL("../../migrations/", import.meta.url);
// Any fixed number: every process that migrates takes this lock first.
const advisoryLock = 7_205_114_301;

export function listMigrations(): Migration[] {
  return readdirSync(migrationsFolder)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, migrationsFolder), "utf8");
      return { name, text, checksum: createHash("sha256").update(text).digest("hex") };
    });
}

/**
 * Applies what is missing, each migration in a transaction of its own together with the row that records it. Any number
 * of processes may start at once: the lock lets one at a time through. Returns the names that were applied.
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: "assay migrate" });
  // A lost connection makes the next statement fail, which is reported; without a listener it would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [advisoryLock]);
    await client.query(
      "create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null)",
    );
    const done = new Map<string, string>(
      (await client.query("select name, checksum from schema_migrations")).rows.map((row) => [
        row.name,
        row.checksum,
      ]),
    );
    const applied: string[] = [];
    for (const migration of listMigrations()) {
      const checksum = done.get(migration.name);
      if (checksum === migration.checksum) continue;
      if (checksum !== undefined) {
        throw new Error(
          `migration ${migration.name} was applied with other text than it has now; migrations are never edited, add a new one`,
        );
      }
      await client.query("begin");
      try {
        await client.query(migration.text);
        await client.query("insert into schema_migrations (name, checksum, applied_at) values ($1, $2, $3)", [
          migration.name,
          migration.checksum,
          new Date(),
        ]);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback").catch(() => {});
        throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
      }
      applied.push(migration.name);
    }
    return applied;
  } finally {
    await client.end();
  }
}

let ownNames: readonly string[] | null = null;

/**
 * Migrations that this code has and the database has not: none when the database is ready for this code. A health check asks
 * every few seconds, so the folder is looked at once.
 */
export async function missingMigrations(db: Queryable): Promise<string[]> {
  ownNames ??= listMigrations().map((migration) => migration.name);
  const rows = await db.rows<{ name: string }>(sql`select name from schema_migrations`);
  const applied = new Set(rows.map((row) => row.name));
  return ownNames.filter((name) => !applied.has(name));
}
