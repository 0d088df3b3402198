import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { type Answer, Api, createPartner, expectData, expectError } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { startAssay } from "../support/process.ts";
import { SilentProxy } from "../support/silent-proxy.ts";
import { testRing } from "../support/test-ring.ts";

const poolSize = 6;
// Ten seconds for a connection, one for a statement, three of silence, and a margin for a busy machine.
// Without limits it would be a quarter of an hour.
const longestMs = 120_000;

/** A service whose database is behind a proxy that can fall silent. */
async function startBehindProxy(limits: Record<string, string>) {
  const database = await createTestDatabase();
  const proxy = await new SilentProxy().start(database.url);
  const dataDir = mkdtempSync(join(tmpdir(), "assay-silent-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const service = await startAssay({
    DATA_DIR: dataDir,
    DATABASE_URL: proxy.url,
    DATABASE_POOL_SIZE: String(poolSize),
    SECRET_KEYS: testRing,
    ...limits,
  });
  const { api } = await createPartner(new Api(service.url));
  return { proxy, service, api };
}

test("a database host that vanishes without a word costs requests seconds, and the next ones go over new connections", async () => {
  const { proxy, service, api } = await startBehindProxy({
    DATABASE_STATEMENT_SECONDS: "1",
  });
  /** Half of them with an idempotency key, which runs the request in one transaction. */
  const createMany = async (count: number): Promise<Answer[]> => {
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        api.post("/v1/sessions", {}, i % 2 === 0 ? { "idempotency-key": crypto.randomUUID() } : {}),
      ),
    );
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < longestMs, `answered after ${Math.round(tookMs)} ms`);
    return answers;
  };
  const allRefused = (answers: readonly Answer[]) => {
    for (const answer of answers) {
      expectError(answer, 503, "SERVICE_UNAVAILABLE");
      assert.ok(answer.headers.get("retry-after"));
    }
  };
  // Fills the pool.
  for (const answer of await createMany(4 * poolSize)) expectData(answer, 201);

  const opened = proxy.opened;
  proxy.fallSilent();
  // The admission decides how many connections were opened. A request that opens another succeeds.
  const met = (await createMany(poolSize)).filter(({ status }) => status !== 201);
  assert.ok(met.length > 0);
  allRefused(met);
  for (const answer of await createMany(2 * poolSize)) expectData(answer, 201);
  assert.ok(proxy.opened > opened);

  // Most of the pool is idle. One request finds out for all, unless a background job already has.
  proxy.fallSilent();
  allRefused((await createMany(1)).filter(({ status }) => status !== 201));
  for (const answer of await createMany(poolSize)) expectData(answer, 201);

  // New connections are not answered either, for a while.
  proxy.swallowsNew = true;
  proxy.fallSilent();
  allRefused(await createMany(2 * poolSize));
  proxy.swallowsNew = false;
  // Connections that were being opened give up at their own limit.
  for (let tries = 0; ; tries++) {
    const [answer] = await createMany(1);
    if (answer?.status === 201) break;
    assert.ok(tries < 5, answer?.text);
  }
  assert.equal(service.child.exitCode, null, service.output());
  proxy.fallSilent();
  assert.equal(await service.stop(), 0, service.output());
});

test("once /readyz finds a silent host, requests in flight fail and the next ones are served, long before any limit", async () => {
  const { proxy, service, api } = await startBehindProxy({
    // Longer than this test waits, so that nothing else frees the connections.
    DATABASE_STATEMENT_SECONDS: "300",
  });
  const createMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => api.post("/v1/sessions", {})));
  const ready = () => fetch(`${service.url}/readyz`);
  for (const answer of await createMany(4 * poolSize)) expectData(answer, 201);
  assert.equal((await ready()).status, 200);

  proxy.fallSilent();
  const inFlight = createMany(poolSize);
  assert.equal((await ready()).status, 503);
  const patience = AbortSignal.timeout(60_000);
  const late = once(patience, "abort").then(() => assert.fail("requests wait for a host that is gone"));
  for (const answer of await Promise.race([inFlight, late]))
    if (answer.status !== 201) expectError(answer, 503, "SERVICE_UNAVAILABLE");
  for (const answer of await Promise.race([createMany(2 * poolSize), late])) expectData(answer, 201);
  assert.equal((await ready()).status, 200);
  assert.equal(await service.stop(), 0, service.output());
});
