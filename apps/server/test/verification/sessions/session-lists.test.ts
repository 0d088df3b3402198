import assert from "node:assert/strict";
import test from "node:test";
import { environments } from "@assay/contract/facts";
import { attemptStatuses, countedSessions, sessionFilters, sessionStatuses } from "@assay/contract/sessions";
import fc from "fast-check";
import { sql } from "../../../src/platform/db/sql.ts";
import { isSandbox } from "../../../src/platform/kernel/caller.ts";
import { dayMs, hourMs, later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { searchedSessions } from "../../../src/verification/sessions/session.store.ts";
import { attemptStatusAt, expiryOf, statusAt } from "../../../src/verification/sessions/session.ts";
import { createPartner, expectData, expectError, readAll, readNewer } from "../../support/api.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";

// No job runs here, so many of these sessions stay due.
const { api, clock, core } = await startTestService({ role: "api" });
const now = clock.now();

const pickOf = <T>(list: readonly T[], seed: number): T => {
  const item = list[seed % list.length];
  assert.ok(item !== undefined);
  return item;
};

/**
 * Sessions of the last hours and weeks in every state, several in one millisecond. They belong to two
 * organizations, one of them in both environments.
 */
async function seed() {
  const [partner, other] = [await createPartner(api), await createPartner(api)];
  await openLive(core, partner.organizationId);
  const callers = { sandbox: partner.api, live: (await withLiveKey(partner)).api };
  const owners = { sandbox: partner.owner.api, live: partner.owner.api.in("live") };
  const hours = [0, 1, minuteMs, 59 * minuteMs, hourMs - 1, hourMs, hourMs + 1, 2 * hourMs, 3 * hourMs];
  const offsets = [...hours, 2 * dayMs, 8 * dayMs, 15 * dayMs, 22 * dayMs, 29 * dayMs];
  const sessions = Array.from({ length: 120 }, (_, i) => {
    const createdAt = later(now, -pickOf(offsets, i * 9));
    const wanted = pickOf(sessionStatuses, i);
    const environment = pickOf(environments, Math.floor(i / 4));
    const lifetimeMs = environment === "sandbox" ? pickOf([minuteMs, 2 * minuteMs, hourMs], i) : hourMs;
    const expiresAt = expiryOf(createdAt, lifetimeMs);
    return {
      id: newId("vs", createdAt),
      organizationId: i % 11 === 0 ? other.organizationId : partner.organizationId,
      environment,
      // Sessions stored as expired are past their expiry.
      status: wanted === "expired" && expiresAt > now ? "cancelled" : wanted,
      reference: pickOf([null, "popular", "rare"], i * 5 + Math.floor(i / 50)),
      metadata: pickOf<Record<string, string>>(
        [{}, { channel: "app" }, { channel: "app", note: "a:b" }],
        i * 7 + Math.floor(i / 20),
      ),
      createdAt,
      expiresAt,
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
    select id, organization_id, status, case status when 'failed' then 'liveness_failed' end, 1, '{}', metadata, sandbox,
      reference, '', expires_at, case when status not in ('created', 'in_progress') then created_at end, created_at,
      created_at
    from unnest(${sessions.map((s) => s.id)}::text[], ${sessions.map((s) => s.organizationId)}::uuid[],
      ${sessions.map((s) => s.status)}::text[], ${sessions.map((s) => s.reference)}::text[],
      ${sessions.map((s) => s.expiresAt)}::timestamptz[], ${sessions.map((s) => s.createdAt)}::timestamptz[],
      ${sessions.map(isSandbox)}::boolean[], ${sessions.map((s) => JSON.stringify(s.metadata))}::json[])
      as t (id, organization_id, status, reference, expires_at, created_at, sandbox, metadata)`);
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
  return { callers, owners, sessions: own(sessions), attempts: own(attempts) };
}

const { callers, owners, sessions, attempts } = await seed();
const isSeen = (seen: string, status: string | undefined) =>
  status === undefined ||
  seen === status ||
  (status === "open" && (seen === "created" || seen === "in_progress"));
const newestFirst = (a: { id: string }, b: { id: string }) => (a.id < b.id ? 1 : -1);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const moment = fc
  .tuple(fc.constantFrom(...sessions.map((session) => session.createdAt)), fc.constantFrom(-1, 0, 1))
  .map(([at, by]) => later(at, by));

/** Read from its last item on, a list gives all others again. */
async function expectNewer(
  as: typeof callers.live,
  path: string,
  query: Record<string, string | undefined>,
  limit: number,
  listed: readonly { id: string }[],
): Promise<void> {
  const last = listed.at(-1);
  if (last === undefined) return;
  assert.deepEqual(await readNewer(as, path, query, limit, last.id), listed.slice(0, -1));
}

test("every combination of filters gives exactly the sessions it should, in order, on any size of page", async () => {
  await fc.assert(
    fc.asyncProperty(
      optional(fc.constantFrom(...sessionFilters)),
      optional(fc.constantFrom("popular", "rare", "unheard of")),
      optional(moment),
      optional(moment),
      fc.record({
        prefix: fc.option(fc.constantFrom("p", "popular", "rar", "x"), { nil: undefined, freq: 2 }),
        metadata: fc.option(fc.constantFrom("channel:app", "note:a:b", "note:b"), {
          nil: undefined,
          freq: 2,
        }),
      }),
      fc.integer({ min: 3, max: 100 }),
      fc.constantFrom(...environments),
      async (status, reference, from, to, { prefix, metadata }, limit, environment) => {
        fc.pre(from === undefined || to === undefined || from <= to);
        const query = {
          status,
          client_reference_id: reference,
          client_reference_id_prefix: prefix,
          metadata,
          created_from: from?.toISOString(),
          created_to: to?.toISOString(),
        };
        const listed = await readAll(callers[environment], "/v1/sessions", query, limit);
        const has = (entries: Record<string, string>) =>
          Object.entries(entries).some((entry) => entry.join(":") === metadata);
        const expected = sessions
          .map((session) => ({ ...session, seen: statusAt({ ...session, status: session.status }, now) }))
          .filter((session) => session.environment === environment)
          .filter((session) => isSeen(session.seen, status))
          .filter((session) => reference === undefined || session.reference === reference)
          .filter((session) => prefix === undefined || session.reference?.startsWith(prefix))
          .filter((session) => metadata === undefined || has(session.metadata))
          .filter((session) => from === undefined || session.createdAt >= from)
          .filter((session) => to === undefined || session.createdAt <= to)
          .sort(newestFirst);
        assert.deepEqual(
          listed.map((session) => [session.id, session.status]),
          expected.map((session) => [session.id, session.seen]),
        );
        await expectNewer(callers[environment], "/v1/sessions", query, limit, listed);
      },
    ),
    { numRuns: 240 },
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
        await expectNewer(callers[environment], path, { status, session_id: sessionId }, limit, listed);
      },
    ),
    { numRuns: 60 },
  );
});

test("the counts of a period agree with its lists, and belong to the environment that is asked for", async () => {
  await fc.assert(
    fc.asyncProperty(
      optional(moment),
      optional(moment),
      fc.constantFrom(...environments),
      async (from, to, environment) => {
        fc.pre(from === undefined || to === undefined || from <= to);
        const query = { created_from: from?.toISOString(), created_to: to?.toISOString() };
        const own = sessions
          .filter((session) => session.environment === environment)
          .filter((session) => from === undefined || session.createdAt >= from)
          .filter((session) => to === undefined || session.createdAt <= to)
          .map((session) => statusAt(session, now));
        const countOf = (status?: string) => own.filter((seen) => isSeen(seen, status)).length;
        assert.deepEqual(
          expectData(await owners[environment].get("/v1/auth/orgs/session-counts", query)),
          Object.fromEntries([["all", countOf()], ...countedSessions.map((each) => [each, countOf(each)])]),
        );
      },
    ),
    { numRuns: 40 },
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

test("a list is read in one direction at a time, and from an item of one's own", async () => {
  const { id } = sessions.find(({ environment }) => environment === "live") ?? assert.fail();
  for (const path of ["/v1/sessions", "/v1/sessions/attempts/attempts"]) {
    const foreign = path === "/v1/sessions" ? id : newId("va", now);
    const both = { starting_after: foreign, ending_before: foreign };
    expectError(await callers.live.get(path, both), 400, "INVALID_REQUEST", /cannot be combined/);
    expectError(
      await callers.sandbox.get(path, { ending_before: foreign }),
      400,
      "INVALID_REQUEST",
      /`ending_before`/,
    );
  }
  expectError(
    await callers.live.get("/v1/sessions", { metadata: "channel" }),
    400,
    "BAD_REQUEST",
    /`metadata`/,
  );
});

test("an index leads to what few sessions have, however many sessions there are", async () => {
  const { organizationId, owner } = await createPartner(api);
  const tenant = { organizationId, environment: "sandbox" } as const;
  await core.db.run(sql`
    insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox, cancel_token_hash,
      client_reference_id, expires_at, created_at, updated_at)
    select 'vs_' || lpad(number::text, 64, '0'), ${organizationId}, 'created', 1, '{}', json_build_object('order', number::text),
      true, '', 'order-' || number, ${now}, ${now}, ${now}
    from generate_series(1, 5000) number`);
  await core.db.run(sql`analyze sessions`);
  const planOf = async (filter: Parameters<typeof searchedSessions>[1]) => {
    const [nearest, found] = searchedSessions(tenant, filter, now, 11);
    assert.ok(nearest !== undefined && found !== undefined);
    const explain = async (statement: typeof found) => {
      const lines = await core.db.rows<{ "QUERY PLAN": string }>(sql`explain ${statement}`);
      return lines.map((line) => line["QUERY PLAN"]).join("\n");
    };
    return { nearest: await explain(nearest), found: await explain(found) };
  };
  for (const [filter, index] of [
    [{ metadata: { order: "77" } }, /sessions_metadata/],
    [{ metadata: { order: "77" }, referencePrefix: "order-77" }, /sessions_metadata/],
    [{ referencePrefix: "order-77" }, /sessions_reference_beginning/],
    [{ referencePrefix: "order-77", status: "expired" as const }, /sessions_reference_beginning/],
  ] as const) {
    const { nearest, found } = await planOf(filter);
    assert.match(found, index);
    assert.doesNotMatch(`${nearest}\n${found}`, /Seq Scan/);
    assert.match(nearest, /sessions_(?:organization|status)/);
  }
  assert.deepEqual(
    expectData(await owner.api.get("/v1/auth/orgs/session-counts")),
    { all: 1000, open: 0, succeeded: 0, failed: 0, expired: 1000, cancelled: 0 },
    "counts stop at a thousand",
  );
});
