import assert from "node:assert/strict";
import test from "node:test";
import type { AttemptId } from "@assay/contract/ids";
import fc from "fast-check";
import type { Core } from "../../../src/platform/core.ts";
import type { Tx } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { knownId } from "../../../src/platform/kernel/ids.ts";
import { expireSessions } from "../../../src/verification/sessions/expire-sessions.job.ts";
import { touchAttempt } from "../../../src/verification/sessions/session.store.ts";
import { Api, createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { cancelAsPerson, claim, createSession, fail, judge, succeed } from "../../support/sessions.ts";
import { until } from "../../support/until.ts";

// Two processes on one database and one clock. One of them also runs the background jobs.
const one = await startTestService();
const two = await startTestService({ role: "api", databaseUrl: one.databaseUrl, clock: one.clock });
const { clock } = one;
const cores = [one.core, two.core];
const partner = await createPartner(one.api);
const apis = [one, two].map((service) => new Api(service.url, `Bearer ${partner.key.secret}`));

function at<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  assert.ok(item !== undefined);
  return item;
}

/** What must hold for every session, whatever happened to it. */
function checkEverySession(core: Core): Promise<Map<string, string>> {
  return core.db.transaction(async (tx) => {
    // One snapshot of all tables, because the jobs of both processes write meanwhile.
    await tx.run(sql`set transaction isolation level repeatable read`);
    return checkSessionsIn(tx);
  });
}

async function checkSessionsIn(tx: Tx): Promise<Map<string, string>> {
  const sessions = await tx.rows<{
    id: string;
    status: string;
    events: string[];
    audited: string[];
    openAttempts: number;
    succeededAttempts: number;
  }>(sql`
    select s.id, s.status,
      array(select type from events e where e.session_id = s.id) as events,
      array(select event from audit_logs a where a.target_id = s.id
        and a.event not in ('session.created', 'session.face_rejected')) as audited,
      (select count(*) from attempts t where t.session_id = s.id and t.status = 'in_progress') as open_attempts,
      (select count(*) from attempts t where t.session_id = s.id and t.status = 'succeeded') as succeeded_attempts
    from sessions s`);
  for (const session of sessions) {
    const open = session.status === "created" || session.status === "in_progress";
    assert.deepEqual(session.events, open ? [] : [`verification.session.${session.status}`]);
    assert.deepEqual(session.audited, open ? [] : [`session.${session.status}`]);
    assert.equal(session.openAttempts, session.status === "in_progress" ? 1 : 0);
    assert.equal(session.succeededAttempts, session.status === "succeeded" ? 1 : 0);
  }
  const counted = await tx.one<Record<string, number>>(sql`
    select coalesce(sum(succeeded), 0)::bigint as succeeded, coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(expired), 0)::bigint as expired, coalesce(sum(cancelled), 0)::bigint as cancelled
    from (
      select succeeded, failed, expired, cancelled from session_days union all
      select (status = 'succeeded')::integer * by, (status = 'failed')::integer * by, 0, (status = 'cancelled')::integer * by
      from session_outcomes) as figures`);
  for (const status of ["succeeded", "failed", "expired", "cancelled"]) {
    assert.equal(counted[status], sessions.filter((session) => session.status === status).length, status);
  }
  return new Map(sessions.map((session) => [session.id, session.status]));
}

const operation = fc.record({
  what: fc.constantFrom(
    "claim",
    "take over",
    "try",
    "succeed",
    "fail",
    "cancel",
    "abort",
    "heartbeat",
    "expire",
  ),
  process: fc.nat({ max: 1 }),
  session: fc.nat({ max: 2 }),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Waves of operations at the same moment, with time passing between the waves. */
const storm = fc.array(
  fc.record({
    wave: fc.array(operation, { minLength: 2, maxLength: 8 }),
    pauseMs: fc.constantFrom(0, 30_000, 61_000, 29 * minuteMs, 31 * minuteMs),
  }),
  { minLength: 1, maxLength: 5 },
);

test("no interleaving of two processes ends a session twice or gives it two terminal events", async () => {
  await fc.assert(
    fc.asyncProperty(storm, async (waves) => {
      const ids = await Promise.all([0, 1, 2].map((i) => createSession(at(apis, i))));
      const attempts = new Map<string, AttemptId>();
      const ends = new Map<string, number>();
      const endedBy = (id: string, really: boolean) => {
        if (really) ends.set(id, (ends.get(id) ?? 0) + 1);
      };
      const perform = async ({ what, process, session }: Operation): Promise<void> => {
        const core = at(cores, process);
        const id = at(ids, session);
        const attempt = attempts.get(id) ?? knownId("va_none");
        switch (what) {
          case "claim":
          case "take over": {
            const result = await claim(core, id, `device ${process}`, what === "take over");
            if (result.kind === "claimed") attempts.set(id, result.attemptId);
            return;
          }
          case "try": {
            const result = await judge(core, id, attempt, "chip", 1 + (process % 3), "document_data_invalid");
            return endedBy(id, result.kind === "session_ended");
          }
          case "succeed":
            return endedBy(id, (await succeed(core, id, attempt)).kind === "session_ended");
          case "fail":
            return endedBy(id, (await fail(core, id, attempt)).kind === "session_ended");
          case "cancel": {
            const answer = await at(apis, process).post(`/v1/sessions/${id}/cancel`);
            assert.ok([204, 409].includes(answer.status), answer.text);
            return;
          }
          case "abort": {
            const result = await cancelAsPerson(core, id, "cancelled_by_user");
            return endedBy(id, result.kind === "cancelled");
          }
          case "heartbeat":
            await touchAttempt(core.db, attempt, clock.now());
            return;
          case "expire":
            await expireSessions(core, "expire-sessions")();
            return;
        }
      };
      for (const { wave, pauseMs } of waves) {
        await Promise.all(wave.map(perform));
        clock.advance(pauseMs);
      }
      const statuses = await checkEverySession(one.core);
      for (const id of ids) {
        const count = ends.get(id) ?? 0;
        assert.ok(count <= 1, `${count} callers were told that they ended the session`);
        if (count === 1) assert.ok(["succeeded", "failed", "cancelled"].includes(statuses.get(id) ?? ""));
      }
    }),
    { numRuns: 25 },
  );
});

test("a storm of creates, cancels, claims, outcomes and expiry over two processes leaves one end and one event each", async () => {
  const created: string[] = [];
  for (let round = 0; round < 6; round++) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const core = at(cores, i);
        const id = await createSession(at(apis, i), { client_reference_id: `round ${round}` });
        created.push(id);
        const result = i % 2 === 0 ? await claim(core, id) : null;
        const attempt = result?.kind === "claimed" ? result.attemptId : "va_none";
        const older = at(created, Math.floor(created.length / 2) + i);
        await Promise.all([
          at(apis, i).post(`/v1/sessions/${id}/cancel`),
          at(apis, i + 1).post(`/v1/sessions/${id}/cancel`),
          at(apis, i).post(`/v1/sessions/${older}/cancel`),
          i % 4 === 0 ? succeed(at(cores, i + 1), id, attempt) : undefined,
          i % 4 === 2 && i % 3 === 0 ? fail(core, id, attempt) : undefined,
          i % 10 === 0 ? expireSessions(core, "expire-sessions")() : undefined,
        ]);
      }),
    );
    clock.advance(21 * minuteMs);
  }
  clock.advance(60 * minuteMs);
  await Promise.all(
    [...cores, ...cores].map(async (core) => {
      const run = expireSessions(core, "expire-sessions");
      while ((await run()) > 0);
    }),
  );
  // A session that a job of the first process has locked is left to it.
  await until("every session has ended", async () => {
    const { open } = await one.core.db.one<{ open: number }>(
      sql`select count(*) as open from sessions where status in ('created', 'in_progress')`,
    );
    return open === 0;
  });
  const statuses = await checkEverySession(one.core);
  assert.equal(new Set(created).size, 120);
  for (const id of created)
    assert.ok(
      ["succeeded", "failed", "cancelled", "expired"].includes(statuses.get(id) ?? ""),
      statuses.get(id),
    );
  const kinds = new Set(created.map((id) => statuses.get(id)));
  assert.deepEqual([...kinds].sort(), ["cancelled", "expired", "failed", "succeeded"]);
  const period = { from: "2026-03-01", to: "2026-12-31" };
  const { totals } = expectData(await partner.api.get("/v1/analytics/sessions/overview", period));
  assert.equal(totals.total, statuses.size);
  assert.equal(totals.created + totals.in_progress, 0);
});
