import assert from "node:assert/strict";
import test, { after } from "node:test";
import { systemClock } from "../../src/platform/kernel/clock.ts";
import { createPartner, expectData, expectError } from "../support/api.ts";
import { cleanUpAfterFile } from "../support/held-postgres.ts";
import { startTestService } from "../support/service.ts";
import { connect, startPair } from "../support/standby.ts";

cleanUpAfterFile();
const pair = await startPair();
const service = await startTestService({ databaseUrl: pair.url, clock: systemClock });
after(pair.close);
const partner = await createPartner(service.api);

test("when the primary dies under load the service reconnects at the same address to the promoted server, and no acknowledged write is lost", async () => {
  const acknowledged: string[] = [];
  let refused = 0;
  let loading = true;
  const load = Promise.all(
    Array.from({ length: 6 }, async (_, client) => {
      for (let number = 0; loading; number++) {
        const headers = number % 2 === 0 ? { "idempotency-key": `${client}-${number}` } : {};
        const answer = await partner.api.post("/v1/sessions", {}, headers);
        if (answer.status === 201) acknowledged.push(expectData(answer, 201).id);
        else {
          expectError(answer, 503, "SERVICE_UNAVAILABLE");
          refused++;
        }
      }
    }),
  );
  load.catch(() => {});
  const more = async (count: number) => {
    const until = acknowledged.length + count;
    while (acknowledged.length < until) await Promise.race([load, new Promise(setImmediate)]);
  };
  await more(30);
  const standby = await connect(pair.standbyUrl);
  await pair.losePrimary();
  await standby.query("select pg_promote()");
  await pair.leadToStandby();
  await more(30);
  loading = false;
  await load;
  assert.ok(refused > 0, "requests were hit");
  const { rows } = await standby.query("select id from sessions");
  await standby.end();
  const found = new Set(rows.map(({ id }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !found.has(id)),
    [],
  );
  // The listener has reconnected too.
  const listens = () => {
    const reading = service.core.metrics.readingOf("assay_db_listener_connected");
    return reading?.kind === "gauge" && reading.values[0]?.value === 1;
  };
  while (!listens()) await new Promise(setImmediate);
  const { id } = expectData(await partner.api.post("/v1/sessions", {}), 201);
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${id}`)).id, id);
  assert.equal((await partner.api.get("/readyz")).status, 200);
});
