import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, type TestContext } from "node:test";
import { runCommand } from "@assay/cli/command";
import pg from "pg";
import { loadConfig } from "../../src/load-config.ts";
import { simulateCommand } from "../../src/operations/cli/simulate.command.ts";
import { lookIntoDatabase } from "../../src/operations/doctor/look-into-database.ts";
import type { ProcessRole } from "../../src/operations/operator/process-report.ts";
import { migrate } from "../../src/platform/db/migrate.ts";
import { checkPooler, examinePooler } from "../../src/platform/db/pooler.ts";
import { later, systemClock } from "../../src/platform/kernel/clock.ts";
import { createLog } from "../../src/platform/lib/log.ts";
import { setPendingDeletion } from "../../src/tenants/organizations/deletion.store.ts";
import { createPartner, expectData, expectError } from "../support/api.ts";
import { createAuthority } from "../support/certificate.ts";
import { createTestDatabase } from "../support/database.ts";
import { findPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { assay } from "../support/process.ts";
import { createReceivingEndpoint, startReceiver } from "../support/receiver.ts";
import { startTestService } from "../support/service.ts";
import { testRing } from "../support/test-ring.ts";
import { startVerification } from "../support/verify.ts";

const program = findPgbouncer();
const skip = program === null ? "pgbouncer is not on this machine (apt-get install pgbouncer)" : false;

/** A service behind a separate pooler, set up as in the guide. */
async function startBehindPooler(t: TestContext, role: ProcessRole, env: Record<string, string> = {}) {
  assert.ok(program !== null);
  const database = await createTestDatabase();
  const { pooledUrl, directUrl } = await startPgbouncer(database.url, program);
  const authority = createAuthority();
  const service = await startTestService({
    databaseUrl: pooledUrl,
    role,
    clock: systemClock,
    webhooks: { ca: authority.certificate },
    env: {
      DATABASE_DIRECT_URL: directUrl,
      DATABASE_PREPARED_STATEMENTS: program.keepsNames ? "named" : "off",
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      ...env,
    },
  });
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  // Before the pooler ends: a service signs off at the database.
  t.after(() => Promise.all([service.close(), admin.end()]));
  return { ...service, databaseUrl: database.url, admin, authority };
}

test("behind a pooler in transaction mode a whole verification succeeds, and its event leaves at once", {
  skip,
}, async (t) => {
  const { api, admin, authority, core, runJob } = await startBehindPooler(t, "all", {
    DATABASE_CLEANING: "rewrite",
  });
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);

  const session = expectData(await partner.api.post("/v1/sessions", {}, { "idempotency-key": "one" }), 201);
  const lines: string[] = [];
  const args = ["simulate", session.verification_url, "--passport", "valid"];
  assert.equal(await runCommand([simulateCommand], args, (line) => lines.push(line)), 0, lines.join("\n"));
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).status, "succeeded");
  await receiver.until(1);

  // Workers poll every second, so without notifications half of these would take longer than half a second.
  const tookMs: number[] = [];
  for (let count = 1; count <= 10; count++) {
    const { id } = await startVerification(partner.api);
    const startedAt = performance.now();
    assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`, {})).status, 204);
    await receiver.until(1 + count);
    tookMs.push(performance.now() - startedAt);
  }
  tookMs.sort((a, b) => a - b);
  assert.ok((tookMs[5] ?? 0) < 400, `events took ${tookMs.map(Math.round).join(", ")} ms`);
  assert.equal((await api.get("/readyz")).status, 200);

  // All at once, so that server connections change clients between transactions.
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      partner.api.post("/v1/sessions", {}, number % 2 === 0 ? { "idempotency-key": `many-${number}` } : {}),
    ),
  );
  for (const answer of answers) expectData(answer, 201);
  const { rows } = await admin.query("select count(*)::integer as count from sessions");
  assert.equal(rows[0].count, 31);

  // A deletion cleans under a session lock, past the pooler, and releases it.
  const other = await createPartner(api);
  await core.db.transaction((tx) =>
    setPendingDeletion(tx, other.organizationId, later(core.clock.now(), -1), core.clock.now()),
  );
  await runJob("delete-organizations");
  const cleaned = await admin.query("select from table_cleanings");
  assert.ok((cleaned.rowCount ?? 0) > 0);
  const locks = await admin.query(
    "select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
  );
  assert.equal(locks.rowCount, 0);
});

test("through the pooler the server ends what takes too long, in a transaction and outside of one", {
  skip,
}, async (t) => {
  const { api, admin, databaseUrl } = await startBehindPooler(t, "api", {
    DATABASE_STATEMENT_SECONDS: "1",
  });
  const partner = await createPartner(api);
  const { id } = await startVerification(partner.api);
  const waiting = async () =>
    (
      await admin.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rowCount;
  // Another connection holds the lock, because `pg_stat_activity` does not change within a transaction.
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query("begin");
  await holder.query("lock table sessions in access exclusive mode");
  const answers = await Promise.all([
    partner.api.get(`/v1/sessions/${id}`),
    partner.api.post("/v1/sessions", {}),
    partner.api.post("/v1/sessions", {}, { "idempotency-key": "slow" }),
  ]);
  for (const answer of answers) expectError(answer, 503, "SERVICE_UNAVAILABLE");
  // The answers came from the server: the statement no longer waits for the lock.
  assert.equal(await waiting(), 0);
  await holder.end();
  expectData(await partner.api.get(`/v1/sessions/${id}`));
});

test("a start through such a pooler alone is refused in a sentence, and the doctor tells the same", {
  skip,
}, async () => {
  assert.ok(program !== null);
  const database = await createTestDatabase();
  const { pooledUrl, directUrl } = await startPgbouncer(database.url, program);
  const folder = mkdtempSync(join(tmpdir(), "assay-pooler-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const env = { DATA_DIR: folder, DATABASE_URL: pooledUrl, SECRET_KEYS: testRing, PORT: "0" };
  const { code, stderr } = await assay(["start"], env);
  assert.equal(code, 1);
  assert.match(stderr, /Set DATABASE_DIRECT_URL to the address of PostgreSQL itself/);
  assert.doesNotMatch(stderr, /^ {4}at /m);
  await assert.rejects(migrate(pooledUrl), /Set DATABASE_DIRECT_URL/);

  const log = createLog({ level: "error", write: () => {}, now: () => new Date() });
  const config = loadConfig(env);
  const findings = await lookIntoDatabase({ config, clock: systemClock, log, env });
  assert.deepEqual(
    findings.map(({ check, state }) => [check, state]),
    [["Pooler", "problem"]],
  );
  const examined = await examinePooler(pooledUrl);
  assert.deepEqual(examined, { pooler: "transaction", supportsPreparedStatements: program.keepsNames });
  assert.deepEqual(await examinePooler(directUrl), { pooler: "none", supportsPreparedStatements: true });
  // An old version mixes up the prepared statements of its clients.
  if (!program.keepsNames)
    await assert.rejects(checkPooler(pooledUrl, "named"), /Set DATABASE_PREPARED_STATEMENTS=off/);
});
