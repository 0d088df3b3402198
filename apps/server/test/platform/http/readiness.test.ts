import assert from "node:assert/strict";
import test, { after } from "node:test";
import pg from "pg";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const poolSize = 2;

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  after(() => client.end());
  return client;
}

async function readiness({ api }: TestService): Promise<string> {
  const answer = await api.get("/readyz");
  const { reason } = JSON.parse(answer.text) as { reason?: string };
  return `${answer.status} ${reason ?? "ready"}`;
}

test("/readyz does not wait in line behind the requests", async () => {
  const service = await startTestService({ env: { DATABASE_POOL_SIZE: String(poolSize) }, role: "api" });
  const { api } = await createPartner(service.api);
  const admin = await connect(service.databaseUrl);
  // Another connection looks, because `pg_stat_activity` does not change within a transaction.
  const onlooker = await connect(service.databaseUrl);
  await admin.query("begin");
  await admin.query("lock table sessions in exclusive mode");
  let answered = 0;
  const requests = Array.from({ length: 6 }, async () => {
    const answer = await api.post("/v1/sessions", {});
    answered++;
    return answer;
  });
  const stuck = async () =>
    (
      await onlooker.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rowCount ?? 0;
  await until("the pool is stuck", async () => (await stuck()) >= poolSize || answered > 0);
  assert.equal(await readiness(service), "200 ready");
  assert.equal(answered, 0);
  await admin.query("rollback");
  for (const answer of await Promise.all(requests)) expectData(answer, 201);
});

test("a read-only database makes writes 503 and the process not ready, until it takes writes again", async () => {
  const service = await startTestService({ env: { METRICS_TOKEN: "let me see" } });
  const { api } = await createPartner(service.api);
  const shown = async () => {
    const headers = { authorization: "Bearer let me see" };
    const { text } = await service.api.call("GET", "/metrics", { headers });
    return /^assay_ready (\d)$/m.exec(text)?.[1];
  };
  assert.equal(await shown(), "1");
  const admin = await connect(service.databaseUrl);
  await admin.query("set default_transaction_read_only = off");
  const name = new URL(service.databaseUrl).pathname.slice(1);
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  // A demoted server ends its connections too.
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'assay%'",
  );
  const refused = async () => {
    const answer = await api.post("/v1/sessions", {});
    expectError(answer, 503, "SERVICE_UNAVAILABLE");
    assert.ok(answer.headers.get("retry-after"));
  };
  await refused();
  await refused();
  assert.equal(await readiness(service), "503 the database is read-only");
  assert.equal(await shown(), "0", "and /metrics shows what /readyz says");
  assert.equal((await api.get("/v1/sessions")).status, 200);

  await admin.query(`alter database ${name} reset default_transaction_read_only`);
  // Connections of that time stay read-only. The first request that notices is enough.
  for (let tries = 0; (await api.post("/v1/sessions", {})).status !== 201; tries++) assert.ok(tries < 2);
  assert.equal(await readiness(service), "200 ready");
});
