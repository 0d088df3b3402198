import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openDb } from "../../src/platform/db/db.ts";
import { sql } from "../../src/platform/db/sql.ts";
import { startEmbeddedPostgres } from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { minuteMs } from "../../src/platform/kernel/clock.ts";
import { sessionLifetimeMs } from "../../src/verification/sessions/session.ts";
import { type Answer, Api, createPartner, expectData, readAll } from "../support/api.ts";
import { expectAllSent, prepareCrashes, refuseSome } from "../support/crashes.ts";
import { killAll, serverProcesses } from "../support/postgres-processes.ts";
import { spawnAssay } from "../support/process.ts";
import { createReceivingEndpoint, decrypt } from "../support/receiver.ts";
import { tally } from "../support/tally.ts";

const kills = Number(process.env.ASSAY_TEST_KILLS ?? 3);
// Not every time, because recovery takes much longer than a restart of the process alone.
const powerLossEvery = 3;
const killedAgainEvery = 2;
const clients = 4;
const stuckAfterMs = 60_000;

// Shown when the test fails. A seed plans the same kills and load; the timing depends on the machine.
const seed = Number(process.env.ASSAY_TEST_CRASH_SEED ?? randomInt(2 ** 31));
console.log(`To plan the same kills again, set ASSAY_TEST_CRASH_SEED=${seed}`);

/** Numbers from 0 up to 1 (mulberry32). */
function randomNumbers(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Counts events, and resolves when this many more have happened. */
class Counter {
  #waiting: { left: number; resolve: () => void }[] = [];

  count(): void {
    for (const waiter of this.#waiting) if (--waiter.left === 0) waiter.resolve();
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
  }

  more(left: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ left, resolve }));
  }
}

const { dataDir, receiver, env } = await prepareCrashes();

/** The service with default settings: one process, and PostgreSQL in its data folder. */
function startService(clockAheadMs: number) {
  return spawnAssay({
    ...env,
    DATA_DIR: dataDir,
    NODE_OPTIONS: `--import=${new URL("../support/later-clock.ts", import.meta.url).href}`,
    TEST_CLOCK_AHEAD_MS: String(clockAheadMs),
  });
}

test("the service with its embedded database, killed at random under load, loses no session and no event", async () => {
  let clockAheadMs = 0;
  let service = startService(clockAheadMs);
  const over = new AbortController();

  /** Kills the process alone, or the database at the same moment, as when the machine loses its power. */
  const kill = async (alsoDatabase: boolean) => {
    const [postmaster = 0, ...others] = alsoDatabase ? serverProcesses(dataDir) : [];
    // The postmaster first: losing its parent would make it shut down in good order.
    if (postmaster > 0) killAll([postmaster]);
    service.child.kill("SIGKILL");
    killAll(others);
    await service.stop("SIGKILL");
    tally("processes killed");
  };

  /** Sends a request until it is answered, through restarts of the service. */
  const insist = async (call: (api: Api) => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      over.signal.throwIfAborted();
      const { listening, child, output } = service;
      try {
        const answer = await call(new Api(await listening).as(partner.key.secret));
        if (answer.status !== 503) return answer;
      } catch (error) {
        if (child.exitCode !== null) assert.fail(`the service ended by itself\n${output()}`);
        // A connection that could not be made or was lost is a TypeError, as of `fetch`.
        if (!(error instanceof TypeError) && child.signalCode === null) throw error;
      }
      await wait(10);
    }
  };

  const partner = await createPartner(new Api(await service.listening));
  await createReceivingEndpoint(partner.api, receiver.url);

  const deliveries = new Counter();
  const answers = new Counter();
  const pauses = randomNumbers(seed + 1);
  const stopRefusing = refuseSome(receiver, async () => {
    deliveries.count();
    await wait(pauses() * 40);
  });

  /** How each session that the partner knows of ended. */
  const ends = new Map<string, "cancelled" | "expired">();
  let loading = true;
  const makeSessions = async (client: number): Promise<void> => {
    const choices = randomNumbers(seed + 2 + client);
    for (let number = 0; loading; number++) {
      const once = { "idempotency-key": `${client}-${number}` };
      const { id } = expectData(await insist((api) => api.post("/v1/sessions", {}, once)), 201);
      assert.ok(!ends.has(id), "another key makes another session");
      answers.count();
      ends.set(id, "expired");
      // Some are left alone. Those of the last moments would not expire in time.
      if (choices() < 0.2 && loading) continue;
      const cancelled = await insist((api) => api.post(`/v1/sessions/${id}/cancel`, undefined, once));
      answers.count();
      // A session may have grown old while the service was down.
      if (cancelled.body.error?.code === "SESSION_EXPIRED") continue;
      assert.equal(cancelled.status, 204, cancelled.text);
      ends.set(id, "cancelled");
    }
  };
  const load = Promise.all(Array.from({ length: clients }, (_, client) => makeSessions(client)));
  load.catch(() => {});

  const plan = randomNumbers(seed);
  const upTo = (most: number) => 1 + Math.floor(plan() * most);
  try {
    for (let killed = 1; killed <= kills; killed++) {
      await service.listening;
      // Half of the kills happen while the partner has a delivery and has not answered.
      const moment = plan() < 0.5 ? deliveries.more(upTo(12)) : answers.more(upTo(30));
      const stuck = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => stuck.reject(new Error(`nothing happens any more\n${service.output()}`)),
        stuckAfterMs,
      );
      await Promise.race([moment, load, stuck.promise]).finally(() => clearTimeout(timer));
      await wait(plan() * 20);
      await kill(killed % powerLossEvery === 0);
      // The time off decides whether the next start finds leases and sessions valid or expired.
      if (plan() < 0.5) clockAheadMs += 15 * minuteMs;
      if (killed === kills) {
        loading = false;
        stopRefusing();
        clockAheadMs += sessionLifetimeMs;
      } else if (killed % killedAgainEvery === 0) {
        // Killed once more while it starts.
        service = startService(clockAheadMs);
        await Promise.race([service.listening, wait(plan() * 600)]);
        await kill(plan() < 0.5);
      }
      service = startService(clockAheadMs);
    }
    await load;
  } finally {
    over.abort();
  }

  const database = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {} });
  const db = openDb({ url: database.url, poolSize: 2, onError: () => {} });
  try {
    await expectAllSent(db, ends.size);
    const events = await db.rows<{ id: string; sessionId: string; type: string; status: string }>(sql`
      select e.id, e.session_id, e.type, s.status from events e left join sessions s on s.id = e.session_id`);
    const told = events.map((event) => `${event.sessionId} ${event.status} ${event.type}`);
    const expected = [...ends].map(([id, end]) => `${id} ${end} verification.session.${end}`);
    assert.deepEqual(told.sort(), expected.sort(), "each session has the one event that tells of its end");

    const arrived = new Map<string, string>();
    for (const { body } of receiver.received) {
      const { event } = await decrypt(body);
      arrived.set(event.id, `${event.metadata.verification_session_id} ${event.type}`);
    }
    assert.deepEqual(
      [...arrived].sort(),
      events.map((event) => [event.id, `${event.sessionId} ${event.type}`]).sort(),
      "every event reached the partner, and nothing that is not an event",
    );
  } finally {
    await db.close();
    await database.stop();
  }

  const sessions = await readAll(
    new Api(await service.listening).as(partner.key.secret),
    "/v1/sessions",
    {},
    100,
  );
  const found = sessions.map(({ id }) => id);
  assert.deepEqual(found.sort(), [...ends.keys()].sort(), "the partner's sessions are there, and no other");
  assert.equal(await service.stop(), 0, service.output());
});
