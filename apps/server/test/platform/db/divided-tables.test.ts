import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import pg from "pg";
import { listMigrations, migrate } from "../../../src/platform/db/migrate.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { newId, newUuid } from "../../../src/platform/kernel/ids.ts";
import { createPartner, expectData, readAll } from "../../support/api.ts";
import { createTestDatabase } from "../../support/database.ts";
import { startTestService } from "../../support/service.ts";
import { createSession } from "../../support/sessions.ts";

/** The database is older than the one that `npm run prove -- upgrade` keeps half migrated. */
const migrating = { SKIP_MIGRATIONS: "false" };

// Release 5cfa4372 could divide these tables; `divided-tables.sql` is what it sent.
const tables = ["sessions", "attempts", "consents", "events", "webhook_deliveries", "audit_logs"];
const former = listMigrations().filter(({ name }) => name < "0092");
const division = new URL("../../support/divided-tables.sql", import.meta.url);
const statements = readFileSync(division, "utf8").split(/^(?=begin;|set statement_timeout)/m);

async function formerDatabase(): Promise<{ url: string; client: pg.Client }> {
  const { url } = await createTestDatabase({ empty: true });
  await migrate(url, { migrations: former });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  after(() => client.end());
  return { url, client };
}

/** A row of each table, as the former release wrote them. */
async function insertRows(client: pg.Client, at: Date): Promise<void> {
  const [session, attempt, event] = [newId("vs", at), newId("va", at), newId("evt", at)];
  const [delivery, organization] = [newId("whd", at), newUuid(at)];
  const insert = (text: string, values: unknown[]) => client.query(`insert into ${text}`, values);
  await insert(
    `sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox, cancel_token_hash, expires_at, completed_at, created_at, updated_at)
     values ($1, $2, 'cancelled', 1, '{}', '{"shop":"berlin"}', true, '', $3, $3, $3, $3)`,
    [session, organization, at],
  );
  await insert(
    `attempts (id, session_id, organization_id, sandbox, status, session_expires_at, completed_at, created_at, updated_at)
     values ($1, $2, $3, true, 'cancelled', $4, $4, $4, $4)`,
    [attempt, session, organization, at],
  );
  await insert(
    `consents (session_id, organization_id, id, selected_field_keys, terms_version, terms_hash, receipt, cancel_token_hash, given_at)
     values ($1, $2, $3, '{}', '1', '', '', '', $4)`,
    [session, organization, newUuid(at), at],
  );
  await insert(
    "events (id, organization_id, type, session_id, sandbox, created_at) values ($1, $2, 'webhook.test', $3, true, $4)",
    [event, organization, session, at],
  );
  await insert(
    `webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, status, attempt_count, created_at, updated_at)
     values ($1, $2, true, $3, 'webhook.test', 'whe_x', 'succeeded', 1, $4, $4)`,
    [delivery, organization, event, at],
  );
  await insert(
    "audit_logs (id, organization_id, event, actor_kind, created_at) values ($1, $2, 'session.created', 'system', $3)",
    [newUuid(at), organization, at],
  );
}

async function contents(client: pg.Client): Promise<unknown[][]> {
  const all: unknown[][] = [];
  for (const table of tables) {
    const { rows } = await client.query(`select to_jsonb(t) as row from ${table} t order by t::text`);
    all.push(rows.map(({ row }) => row));
  }
  return all;
}

async function partitionOf(client: pg.Client, table: string, key: string, id: string): Promise<string> {
  const { rows } = await client.query(
    `select tableoid::regclass::text as name from ${table} where ${key} = $1`,
    [id],
  );
  return rows[0]?.name;
}

test("tables that the release before has divided keep every row, are listed in order, take new rows forever and lose old ones to retention", async () => {
  const { url, client } = await formerDatabase();
  await insertRows(client, new Date("2026-01-04T12:00:00Z"));
  await client.query(statements.join(""));
  for (const day of ["05", "08", "14"]) await insertRows(client, new Date(`2026-01-${day}T12:00:00Z`));
  const before = await contents(client);
  assert.deepEqual(
    before.map((rows) => rows.length),
    tables.map(() => 4),
  );

  const { api, clock, runJob } = await startTestService({ databaseUrl: url, env: migrating });
  clock.set(new Date("2026-01-06T12:00:00Z"));
  assert.partialDeepStrictEqual(await contents(client), before);

  // The part from before the division, two dated ones, and the default partition once these have ended.
  const partner = await createPartner(api);
  const ids: string[] = [];
  for (const [date, partition] of [
    ["2026-01-06", "sessions_before"],
    ["2026-01-08", "sessions_from_20260107"],
    ["2026-01-14", "sessions_from_20260112"],
    ["2026-02-20", "sessions_rest"],
    ["2036-02-20", "sessions_rest"],
  ] as const) {
    clock.set(new Date(`${date}T12:00:00Z`));
    const id = await createSession(partner.api);
    ids.unshift(id);
    assert.equal(await partitionOf(client, "sessions", "id", id), partition);
    assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`)).status, 204);
  }
  const listed = await readAll<{ id: string }>(partner.api, "/v1/sessions", {}, 2);
  assert.deepEqual(
    listed.map(({ id }) => id),
    ids,
  );

  for (const job of ["purge-sessions", "purge-webhook-history", "purge-audit-logs"]) await runJob(job);
  const [newest] = ids;
  const kept = await contents(client);
  // The session of 2036 and the event of its end.
  assert.deepEqual(
    kept.slice(0, 5).map((rows) => rows.length),
    [1, 0, 0, 1, 0],
  );
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${newest}`)).id, newest);
});

test("a division that was interrupted at any step refuses no row", async () => {
  // The check alone, the check with its proof, and one table divided while the next is not.
  for (const steps of [1, 2, 6]) {
    const { url, client } = await formerDatabase();
    await insertRows(client, new Date("2026-01-04T12:00:00Z"));
    for (const step of statements.slice(0, steps + 1)) await client.query(step);
    const before = await contents(client);
    const { api, clock, runJob } = await startTestService({ databaseUrl: url, env: migrating });
    assert.partialDeepStrictEqual(await contents(client), before);
    clock.advance(365 * dayMs);
    const partner = await createPartner(api);
    await createSession(partner.api);
    // A process of the release before, beside this one, begins another division and is killed.
    await client.query("alter table attempts drop constraint if exists attempts_ends_before");
    await client.query(
      "alter table audit_logs add constraint audit_logs_ends_before check (id < '019b9000-0000-7000-8000-000000000000') not valid",
    );
    assert.equal((await partner.api.post("/v1/sessions", {})).status >= 400, true);
    await runJob("drop-division-checks");
    await createSession(partner.api);
  }
});

test("indexes of a divided table are made and dropped on every partition", async () => {
  const { url, client } = await formerDatabase();
  await client.query(statements.join(""));
  await migrate(url);
  const indexed = async () => {
    const { rows } = await client.query(
      "select count(*)::int as count from pg_partition_tree(to_regclass('made_by_a_test')) where isleaf",
    );
    return rows[0].count;
  };
  const apply = (name: string, statement: string) =>
    migrate(url, {
      migrations: [
        ...listMigrations(),
        { name, text: `-- phase: expand\n-- transaction: none\n${statement};`, checksum: name },
      ],
    });
  await apply(
    "9001_index.sql",
    "create index concurrently if not exists made_by_a_test on sessions (created_at)",
  );
  assert.equal(await indexed(), 4);
  await apply("9002_index.sql", "drop index concurrently if exists made_by_a_test");
  assert.equal(await indexed(), 0);
});
