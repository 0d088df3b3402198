import assert from "node:assert/strict";
import test from "node:test";
import { claimJobRun } from "../../../src/platform/db/job-run.store.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, hourMs, later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createTestDatabase } from "../../support/database.ts";
import { startTestService, TestClock } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const { url: databaseUrl } = await createTestDatabase();
const clock = new TestClock();

/** A process that runs its jobs as soon as it has started, and lives for a moment. */
const startBriefly = () => startTestService({ databaseUrl, clock, machines: 1, firstRunWithinMs: 20 });

type Service = Awaited<ReturnType<typeof startBriefly>>;

const lastRuns = async ({ core }: Service) => {
  const rows = await core.db.rows<{ name: string; lastRunAt: Date }>(
    sql`select name, last_run_at from job_runs`,
  );
  return new Map(rows.map(({ name, lastRunAt: at }) => [name, at]));
};

test("processes that live for less than the interval of a job still purge what is past its time", async () => {
  const first = await startTestService({ databaseUrl, clock, machines: 1 });
  const { api, key } = await createPartner(first.api);
  const session = expectData(await api.post("/v1/sessions", {}), 201);
  assert.equal((await api.post(`/v1/sessions/${session.id}/cancel`)).status, 204);
  await first.close();

  clock.advance((first.core.config.sessionRetentionDays + 1) * dayMs);
  const second = await startBriefly();
  const partner = second.api.as(key.secret);
  await until(
    "the session is gone",
    async () => (await partner.get(`/v1/sessions/${session.id}`)).status === 404,
  );
  await second.close();
});

/** Until each job has run here, or was left to whichever process ran it before. */
async function untilAllHadTheirTurn(service: Service): Promise<void> {
  await until("every job has had its turn", async () => {
    await service.runJob("report-process");
    const { waiting } = await service.core.db.one<{ waiting: number }>(sql`
      select count(*)::integer as waiting from key_ring_processes, jsonb_array_elements(report -> 'jobs') job
      where job ->> 'lastEndedAt' is null`);
    return waiting === 0;
  });
}

test("a process that starts again within the interval of a job leaves it, and runs it once it is due", async () => {
  const ranAt = clock.now();
  const again = await startBriefly();
  await untilAllHadTheirTurn(again);
  assert.deepEqual((await lastRuns(again)).get("purge-sessions"), ranAt);
  await again.close();

  clock.advance(4 * minuteMs);
  const early = await startBriefly();
  await untilAllHadTheirTurn(early);
  assert.deepEqual((await lastRuns(early)).get("purge-sessions"), ranAt);
  await early.close();

  clock.advance(minuteMs);
  const due = await startBriefly();
  await untilAllHadTheirTurn(due);
  assert.deepEqual((await lastRuns(due)).get("purge-sessions"), clock.now());
  assert.deepEqual((await lastRuns(due)).get("purge-invitations"), ranAt, "an hour has not passed");
  await due.close();
});

test("of processes that ask at once, one runs a job", async () => {
  const { core } = await startTestService({ databaseUrl, clock, machines: 1 });
  const job = { name: "of-this-test", everyMs: hourMs };
  const claim = (at: Date) => Promise.all(Array.from({ length: 6 }, () => claimJobRun(core.db, job, at)));
  const winners = async (at: Date) => (await claim(at)).filter((isOurs) => isOurs).length;
  assert.equal(await winners(clock.now()), 1);
  assert.equal(await winners(later(clock.now(), 53 * minuteMs)), 0);
  assert.equal(await winners(later(clock.now(), 57 * minuteMs)), 1);
});

test("a job that looks whether rows are due locks none of them, so that it keeps no other process from its rows", async () => {
  const { core, close } = await startTestService({ databaseUrl, clock, machines: 1 });
  const locks: string[] = [];
  await core.quarantine.rowsOf("a-job-of-the-test", "sessions").run(10, {
    take: async (_db, { lock }) => {
      locks.push(lock.text);
      return locks.length <= 2 ? [{ id: "a row" }] : [];
    },
    handle: async () => {},
  });
  assert.deepEqual(locks, ["", "for update skip locked"]);
  await close();
});

test("a job ends although new items come during each of its calls", async () => {
  const service = await startTestService({ databaseUrl, clock, machines: 1 });
  const { api } = await createPartner(service.api);
  const repeatable = { "idempotency-key": "once" };
  assert.equal((await api.post("/v1/sessions", {}, repeatable)).status, 201);
  clock.advance(2 * dayMs);
  const { db } = service.core;
  await db.run(sql`create sequence calls`);
  await db.run(sql`
    create function come_again() returns trigger language plpgsql as $$
    begin
      if nextval('calls') < 20 then insert into idempotent_answers select (old).*; end if;
      return null;
    end $$`);
  await db.run(sql`
    create trigger come_again after delete on idempotent_answers for each row execute function come_again()`);
  await service.runJob("purge-idempotent-answers");
  const { lastValue } = await db.one<{ lastValue: number }>(sql`select last_value::integer from calls`);
  assert.equal(lastValue, 1);
  await service.close();
});
