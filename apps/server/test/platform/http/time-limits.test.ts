import assert from "node:assert/strict";
import test, { after } from "node:test";
import pg from "pg";
import { openDb } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { type Answer, createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const { api, clock, databaseUrl, runJob } = await startTestService({
  env: { DATABASE_STATEMENT_SECONDS: "1" },
  config: { databaseLockSeconds: 1 },
});
const admin = new pg.Client({ connectionString: databaseUrl });
await admin.connect();
after(() => admin.end());
await admin.query(
  "create function takes_two_seconds() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return coalesce(new, old); end $$",
);

function expectRepeatable(answer: Answer): void {
  expectError(answer, 503, "SERVICE_UNAVAILABLE");
  assert.ok(answer.headers.get("retry-after"));
}

test("a statement that takes too long is ended, and the request may be repeated", async () => {
  const { api: partner } = await createPartner(api);
  await admin.query(
    "create trigger slow before insert on sessions for each row execute function takes_two_seconds()",
  );
  expectRepeatable(await partner.post("/v1/sessions", {}));
  expectRepeatable(await partner.post("/v1/sessions", {}, { "idempotency-key": "slow" }));
  await admin.query("drop trigger slow on sessions");
  expectData(await partner.post("/v1/sessions", {}, { "idempotency-key": "slow" }), 201);
});

test("a lock that is not free in time is not waited for, and the request may be repeated", async () => {
  const { api: partner } = await createPartner(api);
  await admin.query("begin");
  await admin.query("lock table sessions in exclusive mode");
  expectRepeatable(await partner.post("/v1/sessions", {}));
  await admin.query("rollback");
  expectData(await partner.post("/v1/sessions", {}), 201);
});

test("a batch of background work may take longer than a request", async () => {
  const { api: partner } = await createPartner(api);
  expectData(await partner.post("/v1/sessions", {}, { "idempotency-key": "to-be-purged" }), 201);
  clock.advance(2 * dayMs);
  await admin.query(
    "create trigger slow before delete on idempotent_answers for each statement execute function takes_two_seconds()",
  );
  await runJob("purge-idempotent-answers");
  await admin.query("drop trigger slow on idempotent_answers");
  const left = await admin.query("select 1 from idempotent_answers where expires_at <= $1", [clock.now()]);
  assert.equal(left.rowCount, 0);
});

test("background work that takes longer than there is at the end of a process is given up, and what is quick is not", async () => {
  const db = openDb({ url: databaseUrl, poolSize: 2, onError: () => {} });
  const slow = db.withStatementLimit(600_000, () =>
    db.transaction((tx) => tx.rows(sql`select pg_sleep(300)`)),
  );
  const sleeping = "select 1 from pg_stat_activity where query = 'select pg_sleep(300)' and state = 'active'";
  await until("the statement runs", async () => (await admin.query(sleeping)).rowCount !== 0);
  db.endBackgroundWork(1);
  await assert.rejects(slow, /terminated/);
  assert.equal(
    (await db.withStatementLimit(600_000, () => db.transaction((tx) => tx.rows(sql`select 1`)))).length,
    1,
  );
  await db.close();
});

test("a connection has the limits that the server keeps, and what the address says goes before them", async () => {
  const address = new URL(databaseUrl);
  address.searchParams.set("options", "-c lock_timeout=4321 -c geqo=off");
  const limits = { statementMs: 1_001, lockMs: 1_002, idleInTransactionMs: 1_003, connectMs: 5_000 };
  const shown = async (url: string) => {
    const db = openDb({ url, poolSize: 1, onError: () => {}, limits });
    const names = ["geqo", "idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout"];
    const rows = await db.rows<{ setting: string }>(
      sql`select setting from pg_settings where name = any(${names}) order by name`,
    );
    await db.close();
    return rows.map((row) => row.setting);
  };
  assert.deepEqual(await shown(databaseUrl), ["on", "1003", "1002", "1001"]);
  assert.deepEqual(await shown(address.href), ["off", "1003", "4321", "1001"]);
});
