import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import pg from "pg";
import { Api, createPartner, expectData, expectError, readAll } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { startAssay } from "../support/process.ts";
import { testRing } from "../support/test-ring.ts";
import { until } from "../support/until.ts";

const rounds = 6;
const clients = 8;

test("a service whose database connections are all ended, again and again, stays up and loses nothing", async () => {
  const database = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), "assay-connections-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const service = await startAssay({
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    SECRET_KEYS: testRing,
  });
  const { api } = await createPartner(new Api(service.url));
  const admin = new pg.Client({ connectionString: database.url });
  // Another connection holds the lock, because `pg_stat_activity` does not change within a transaction.
  const holder = new pg.Client({ connectionString: database.url });
  await Promise.all([admin.connect(), holder.connect()]);

  const acknowledged: string[] = [];
  let refused = 0;
  let loading = true;
  const makeSessions = async (client: number): Promise<void> => {
    for (let number = 0; loading; number++) {
      // Half of them with an idempotency key, which runs the request in one transaction.
      const headers = number % 2 === 0 ? { "idempotency-key": `${client}-${number}` } : {};
      const answer = await api.post("/v1/sessions", {}, headers);
      if (answer.status === 201) acknowledged.push(expectData(answer, 201).id);
      else {
        expectError(answer, 503, "SERVICE_UNAVAILABLE");
        assert.ok(answer.headers.get("retry-after"));
        refused++;
      }
    }
  };
  const load = Promise.all(Array.from({ length: clients }, (_, client) => makeSessions(client)));
  load.catch(() => {});

  const endConnections = async () => {
    const { rows } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name like 'assay%'`,
    );
    assert.ok(rows.length > 0);
  };
  /** Until it holds, or until the load fails. */
  const underLoad = (what: string, holds: () => Promise<boolean>) => Promise.race([load, until(what, holds)]);
  /** Until this many more are acknowledged. */
  const more = async (count: number) => {
    const goal = acknowledged.length + count;
    await underLoad(`${goal} are acknowledged`, async () => acknowledged.length >= goal);
  };
  const waiters = async () =>
    (
      await admin.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rows.length;

  for (let round = 1; round <= rounds; round++) {
    await more(20);
    if (round % 2 === 0) {
      await endConnections();
      continue;
    }
    // Transactions that have begun and wait, so that some are certainly in flight.
    await holder.query("begin");
    await holder.query("lock table sessions in exclusive mode");
    await underLoad("half of them wait", async () => (await waiters()) >= clients / 2);
    await endConnections();
    await holder.query("rollback");
  }
  await more(20);
  loading = false;
  await load;
  await Promise.all([admin.end(), holder.end()]);

  assert.equal(service.child.exitCode, null, service.output());
  assert.ok(refused >= (rounds / 2) * (clients / 2), `only ${refused} requests were hit`);
  const sessions = await readAll(api, "/v1/sessions", {}, 100);
  const found = new Set(sessions.map(({ id }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !found.has(id)),
    [],
    "no acknowledged session is lost",
  );
  assert.equal(await service.stop(), 0, service.output());
});
