import assert from "node:assert/strict";
import test, { after } from "node:test";
import { openDb } from "../../src/db/db.ts";
import { readPosition, readStanding } from "../../src/db/replica.store.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { Api, createPartner, expectData, expectError } from "../support/api.ts";
import { startTestService } from "../support/service.ts";
import { connect, startPair } from "../support/standby.ts";

const pair = await startPair();
/** One process reads from the replica, the other knows nothing of it. */
const reader = await startTestService({
  databaseUrl: pair.url,
  clock: systemClock,
  env: { DATABASE_READ_URL: pair.url },
});
const writer = await startTestService({ databaseUrl: pair.url, clock: systemClock, role: "api" });
after(pair.close);
const partner = await createPartner(reader.api);
const lists = partner.api;
const writes = new Api(writer.url).as(partner.key.secret);

function answeredBy(target: "primary" | "replica"): number {
  const reading = reader.core.metrics.readingOf("assay_db_reads_total");
  const values = reading?.kind === "counter" ? reading.values : [];
  return values.find(({ labels }) => labels.target === target)?.value ?? 0;
}

/** What another process has acknowledged is in the list that is asked for next, first. */
async function writeAndList(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { id } = expectData(await writes.post("/v1/sessions", {}), 201);
    const [newest] = expectData(await lists.get("/v1/sessions", { limit: 1 }));
    assert.equal(newest.id, id);
    const { totals } = expectData(await lists.get("/v1/analytics/sessions/overview"));
    assert.ok(totals.created > 0);
  }
}

test("a list that a replica answers holds everything that any process has acknowledged before", async () => {
  await reader.runJob("watch-replica");
  await writeAndList(20);
  assert.ok(answeredBy("replica") > 0, "the replica has answered some");
  // Sessions by id are read from the primary alone.
  const { id } = expectData(await writes.post("/v1/sessions", {}), 201);
  const before = answeredBy("replica") + answeredBy("primary");
  assert.equal(expectData(await lists.get(`/v1/sessions/${id}`)).id, id);
  assert.equal(answeredBy("replica") + answeredBy("primary"), before);
});

test("a replica that has not applied a write yet does not answer, nor one that is of another history", async () => {
  const standby = await connect(pair.standbyUrl);
  await reader.runJob("watch-replica");
  await standby.query("select pg_wal_replay_pause()");
  while ((await standby.query("select pg_get_wal_replay_pause_state() as state")).rows[0].state !== "paused");
  const before = answeredBy("replica");
  await writeAndList(3);
  assert.equal(answeredBy("replica"), before);
  await standby.query("select pg_wal_replay_resume()");
  await standby.end();
  while (answeredBy("replica") === before) {
    await reader.runJob("watch-replica");
    await writeAndList(1);
  }

  const db = openDb({ url: pair.standbyUrl, poolSize: 1, onError: () => {} });
  const position = await readPosition(reader.core.db);
  assert.deepEqual(await readStanding(db, { lsn: "0/0", timeline: position.timeline }), {
    follows: true,
    reached: true,
    bytes_behind: 0,
  });
  // Further than the primary, in a history that the primary does not have.
  const { follows, reached } = await readStanding(db, { lsn: "0/0", timeline: position.timeline + 1 });
  assert.deepEqual([follows, reached], [false, false]);
  await db.close();
  const primary = await readStanding(reader.core.db, position);
  assert.equal(primary.follows, false, "the primary is not its own replica");
});

test("when the primary dies under load the service follows to the promoted replica, and no acknowledged write is lost", async () => {
  const acknowledged: string[] = [];
  let refused = 0;
  let loading = true;
  const load = Promise.all(
    Array.from({ length: 6 }, async (_, client) => {
      for (let number = 0; loading; number++) {
        const headers = number % 2 === 0 ? { "idempotency-key": `${client}-${number}` } : {};
        const answer = await writes.post("/v1/sessions", {}, headers);
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
  // Whoever listens has followed, too.
  const listens = () => {
    const reading = writer.core.metrics.readingOf("assay_db_listener_connected");
    return reading?.kind === "gauge" && reading.values[0]?.value === 1;
  };
  while (!listens()) await new Promise(setImmediate);
  // The replica is the primary now, and nobody follows it.
  await writeAndList(2);
  await reader.runJob("watch-replica");
  const before = answeredBy("replica");
  await writeAndList(2);
  assert.equal(answeredBy("replica"), before);
  assert.equal((await lists.get("/readyz")).status, 200);
});
