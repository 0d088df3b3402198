import assert from "node:assert/strict";
import test from "node:test";
import { environments } from "@assay/contract/facts";
import { attemptStatuses, sessionStatuses } from "@assay/contract/sessions";
import fc from "fast-check";
import { sql } from "../../../src/platform/db/sql.ts";
import { isSandbox } from "../../../src/platform/kernel/caller.ts";
import { dayMs, hourMs, later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { attemptStatusAt, expiryOf, statusAt } from "../../../src/verification/sessions/session.ts";
import { createPartner, expectData, readAll } from "../../support/api.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";

// Nothing sweeps here, so many of these sessions stay due.
const { api, clock, core } = await startTestService({ role: "api" });
const now = clock.now();

const pickOf = <T>(list: readonly T[], seed: number): T => {
  const item = list[seed % list.length];
  assert.ok(item !== undefined);
  return item;
};

/** Sessions of the last three hours, and some of the last weeks, in every state, several in the same millisecond, for two organizations, one of them in both environments. */
async function seed() {
  const [partner, other] = [await createPartner(api), await createPartner(api)];
  await openLive(core, partner.organizationId);
  const callers = { sandbox: partner.api, live: (await withLiveKey(partner)).api };
  const hours = [0, 1, minuteMs, 59 * minuteMs, hourMs - 1, hourMs, hourMs + 1, 2 * hourMs, 3 * hourMs];
  const offsets = [...hours, 2 * dayMs, 8 * dayMs, 15 * dayMs, 22 * dayMs, 29 * dayMs];
  const sessions = Array.from({ length: 120 }, (_, i) => {
    const createdAt = later(now, -pickOf(offsets, i * 9));
    const wanted = pickOf(sessionStatuses, i);
    return {
      id: newId("vs", createdAt),
      organizationId: i % 11 === 0 ? other.organizationId : partner.organizationId,
      environment: pickOf(environments, Math.floor(i / 4)),
      // What has been written down as expired is past its hour.
      status: wanted === "expired" && expiryOf(createdAt) > now ? "cancelled" : wanted,
      reference: pickOf([null, "popular", "rare"], i * 5 + Math.floor(i / 50)),
      createdAt,
      expiresAt: expiryOf(createdAt),
    };
  });
  const attempts = sessions.map((session, i) => {
    const createdAt = new Date(
      Math.min(now.getTime(), session.createdAt.getTime() + (i % 3) * 20 * minuteMs),
    );
    const status = pickOf(attemptStatuses, i);
    return {
      id: newId("va", createdAt),
      sessionId: session.id,
      organizationId: session.organizationId,
      environment: session.environment,
      status,
      createdAt,
      sessionExpiresAt: session.expiresAt,
    };
  });
  await core.db.run(sql`
    insert into sessions (id, organization_id, status, failure_code, contract_version, share_fields, metadata, sandbox,
      client_reference_id, cancel_token_hash, expires_at, completed_at, created_at, updated_at)
    select id, organization_id, status, case status when 'failed' then 'liveness_failed' end, 1, '{}', '{}', sandbox,
      reference, '', expires_at, case when status not in ('created', 'in_progress') then created_at end, created_at,
      created_at
    from unnest(${sessions.map((s) => s.id)}::text[], ${sessions.map((s) => s.organizationId)}::uuid[],
      ${sessions.map((s) => s.status)}::text[], ${sessions.map((s) => s.reference)}::text[],
      ${sessions.map((s) => s.expiresAt)}::timestamptz[], ${sessions.map((s) => s.createdAt)}::timestamptz[],
      ${sessions.map(isSandbox)}::boolean[])
      as t (id, organization_id, status, reference, expires_at, created_at, sandbox)`);
  await core.db.run(sql`
    insert into attempts (id, session_id, organization_id, sandbox, status, session_expires_at, completed_at, created_at, updated_at)
    select id, session_id, organization_id, sandbox, status, session_expires_at,
      case when status <> 'in_progress' then created_at end, created_at, created_at
    from unnest(${attempts.map((a) => a.id)}::text[], ${attempts.map((a) => a.sessionId)}::text[],
      ${attempts.map((a) => a.organizationId)}::uuid[], ${attempts.map((a) => a.status)}::text[],
      ${attempts.map((a) => a.sessionExpiresAt)}::timestamptz[], ${attempts.map((a) => a.createdAt)}::timestamptz[],
      ${attempts.map(isSandbox)}::boolean[])
      as t (id, session_id, organization_id, status, session_expires_at, created_at, sandbox)`);
  const own = <T extends { organizationId: string }>(rows: T[]) =>
    rows.filter((row) => row.organizationId === partner.organizationId);
  return { callers, sessions: own(sessions), attempts: own(attempts) };
}

const { callers, sessions, attempts } = await seed();
const newestFirst = (a: { id: string }, b: { id: string }) => (a.id < b.id ? 1 : -1);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const moment = fc
  .tuple(fc.constantFrom(...sessions.map((session) => session.createdAt)), fc.constantFrom(-1, 0, 1))
  .map(([at, by]) => later(at, by));

test("every combination of filters gives exactly the sessions it should, in order, on any size of page", async () => {
  await fc.assert(
    fc.asyncProperty(
      optional(fc.constantFrom(...sessionStatuses)),
      optional(fc.constantFrom("popular", "rare", "unheard of")),
      optional(moment),
      optional(moment),
      fc.integer({ min: 3, max: 100 }),
      fc.constantFrom(...environments),
      async (status, reference, from, to, limit, environment) => {
        fc.pre(from === undefined || to === undefined || from <= to);
        const listed = await readAll(
          callers[environment],
          "/v1/sessions",
          {
            status,
            client_reference_id: reference,
            created_from: from?.toISOString(),
            created_to: to?.toISOString(),
          },
          limit,
        );
        const expected = sessions
          .map((session) => ({ ...session, seen: statusAt({ ...session, status: session.status }, now) }))
          .filter((session) => session.environment === environment)
          .filter((session) => status === undefined || session.seen === status)
          .filter((session) => reference === undefined || session.reference === reference)
          .filter((session) => from === undefined || session.createdAt >= from)
          .filter((session) => to === undefined || session.createdAt <= to)
          .sort(newestFirst);
        assert.deepEqual(
          listed.map((session) => [session.id, session.status]),
          expected.map((session) => [session.id, session.seen]),
        );
      },
    ),
    { numRuns: 160 },
  );
});

test("every combination of filters gives exactly the attempts it should, in order, on any size of page", async () => {
  await fc.assert(
    fc.asyncProperty(
      optional(fc.constantFrom(...attemptStatuses)),
      optional(fc.constantFrom(...sessions.map((session) => session.id))),
      fc.integer({ min: 3, max: 100 }),
      fc.constantFrom(...environments),
      async (status, sessionId, limit, environment) => {
        const path = "/v1/sessions/attempts/attempts";
        const listed = await readAll(callers[environment], path, { status, session_id: sessionId }, limit);
        const expected = attempts
          .map((attempt) => ({
            ...attempt,
            seen: attemptStatusAt({ ...attempt, failureCode: null }, now).status,
          }))
          .filter((attempt) => attempt.environment === environment)
          .filter((attempt) => status === undefined || attempt.seen === status)
          .filter((attempt) => sessionId === undefined || attempt.sessionId === sessionId)
          .sort(newestFirst);
        assert.deepEqual(
          listed.map((attempt) => [attempt.id, attempt.status]),
          expected.map((attempt) => [attempt.id, attempt.seen]),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("the overview agrees with the lists about what is open and what is due", async () => {
  for (const environment of environments) {
    const { totals } = expectData(await callers[environment].get("/v1/analytics/sessions/overview"));
    const own = sessions.filter((session) => session.environment === environment);
    const seen = (status: string) =>
      own.filter((session) => session.status !== "expired" && statusAt(session, now) === status).length;
    assert.deepEqual(
      [totals.created, totals.in_progress, totals.expired],
      [seen("created"), seen("in_progress"), seen("expired")],
    );
  }
});
