import assert from "node:assert/strict";
import test from "node:test";
import { retentionJobs } from "../../../src/operations/retention/retain-sessions.job.ts";
import { firstRetryMs } from "../../../src/platform/db/quarantine.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { idFloor } from "../../../src/platform/kernel/ids.ts";
import { expireSessions } from "../../../src/verification/sessions/expire-sessions.job.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, createSession, eventsOf, fail, succeed } from "../../support/sessions.ts";

// Background work is left to the test: what is due stays due until the test says otherwise.
const { api, clock, core, databaseUrl } = await startTestService({ role: "api" });
const attemptsPath = "/v1/sessions/attempts/attempts";
/** These tests are about sessions alone. */
const beside = { ofDevices: [], ofSessions: [] };

async function drain(run: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let round = 0; round < 10_000; round++) {
    const done = await run();
    if (done === 0) return total;
    total += done;
  }
  throw new Error("the job does not come to an end");
}

const sweep = () => drain(expireSessions(core, "expire-sessions"));

test("from the millisecond of the expiry on every read sees it, and the job changes nothing that is read", async () => {
  const partner = await createPartner(api);
  const open = await createSession(partner.api, { client_reference_id: "r" });
  clock.advance(1);
  const begun = await createSession(partner.api, { client_reference_id: "r" });
  const attemptId = await claimed(core, begun);
  const start = clock.now();
  const everything = async () => {
    const list = async (path: string, query: Record<string, string>) =>
      expectData(await partner.api.get(path, query)).map((item: { id: string; status: string }) => [
        item.id,
        item.status,
      ]);
    const overview = expectData(await partner.api.get("/v1/analytics/sessions/overview"));
    return {
      open: expectData(await partner.api.get(`/v1/sessions/${open}`)),
      begun: expectData(await partner.api.get(`/v1/sessions/${begun}`)),
      all: await list("/v1/sessions", {}),
      byReference: await list("/v1/sessions", { client_reference_id: "r" }),
      expired: await list("/v1/sessions", { status: "expired" }),
      expiredByReference: await list("/v1/sessions", { status: "expired", client_reference_id: "r" }),
      expiredByTime: await list("/v1/sessions", { status: "expired", created_from: start.toISOString() }),
      created: await list("/v1/sessions", { status: "created" }),
      inProgress: await list("/v1/sessions", { status: "in_progress" }),
      attempts: await list(attemptsPath, {}),
      failedAttempts: await list(attemptsPath, { status: "failed" }),
      openAttempts: await list(attemptsPath, { status: "in_progress" }),
      attempt: expectData(await partner.api.get(attemptsPath, { session_id: begun })),
      totals: overview.totals,
    };
  };

  clock.advance(60 * minuteMs - 1);
  const before = await everything();
  assert.deepEqual(before.inProgress, [[begun, "in_progress"]]);
  assert.deepEqual(before.created, []);
  assert.deepEqual(before.expired, [[open, "expired"]]);
  assert.deepEqual(before.openAttempts, [[attemptId, "in_progress"]]);
  assert.deepEqual([before.totals.in_progress, before.totals.expired, before.totals.total], [1, 1, 2]);

  clock.advance(1);
  const due = await everything();
  assert.equal(due.begun.status, "expired");
  assert.equal(due.begun.completed_at, due.begun.expires_at);
  const both = [
    [begun, "expired"],
    [open, "expired"],
  ];
  assert.deepEqual([due.all, due.byReference, due.expired, due.expiredByReference], [both, both, both, both]);
  assert.deepEqual(due.expiredByTime, [[begun, "expired"]]);
  assert.deepEqual([due.created, due.inProgress, due.openAttempts], [[], [], []]);
  assert.deepEqual(due.failedAttempts, [[attemptId, "failed"]]);
  assert.equal(due.attempt[0].failure_code, "session_expired");
  assert.equal(due.attempt[0].completed_at, due.begun.expires_at);
  assert.deepEqual([due.totals.in_progress, due.totals.expired, due.totals.total], [0, 2, 2]);
  assert.deepEqual(await eventsOf(core, begun), []);

  clock.advance(5 * secondMs);
  assert.equal(await sweep(), 2);
  assert.deepEqual(await everything(), due);
  for (const id of [open, begun])
    assert.deepEqual(await eventsOf(core, id), ["verification.session.expired"]);
  assert.equal(await sweep(), 0);
  const audit = expectData(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.expired" }),
  );
  assert.deepEqual(
    audit.map((entry: { actor_type: string }) => entry.actor_type),
    ["system", "system"],
  );
});

/** Sessions made inside the database, so that there can be many of them. */
async function seedSessions(organizationId: string, count: number): Promise<void> {
  const now = clock.now();
  const prefix = idFloor("vs", now);
  await core.db.run(sql`
    insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox,
      cancel_token_hash, expires_at, created_at, updated_at)
    select rpad(${prefix} || lpad(i::text, 9, '0'), 67, 'x'), ${organizationId}, 'created', 1, '{}', '{}', true, '',
      ${new Date(now.getTime() + 60 * minuteMs)}, ${now}, ${now}
    from generate_series(1, ${count}::int) as i`);
}

test("thousands that fall due at once each expire once, with several processes at work", async () => {
  const other = await startTestService({ role: "api", databaseUrl, clock });
  const partner = await createPartner(api);
  const count = 3300;
  await seedSessions(partner.organizationId, count);
  clock.advance(60 * minuteMs);
  const swept = await Promise.all([
    drain(expireSessions(core, "expire-sessions")),
    drain(expireSessions(other.core, "expire-sessions")),
    drain(expireSessions(core, "expire-sessions")),
  ]);
  assert.equal(swept.reduce((a, b) => a + b) >= count, true);
  const events = await core.db.one(sql`
    select count(*) as events, count(distinct session_id) as sessions from events
    where organization_id = ${partner.organizationId} and type = 'verification.session.expired'`);
  assert.deepEqual(events, { events: count, sessions: count });
  const overview = expectData(await partner.api.get("/v1/analytics/sessions/overview"));
  assert.equal(overview.totals.expired, count);
  assert.equal(overview.totals.total, count);
});

test("a session that another process holds is expired by a later run", async () => {
  const partner = await createPartner(api);
  await seedSessions(partner.organizationId, 3);
  clock.advance(60 * minuteMs);
  const run = expireSessions(core, "expire-sessions");
  await core.db.transaction(async (tx) => {
    await tx.rows(sql`
      select from sessions where organization_id = ${partner.organizationId} order by id limit 1 for update`);
    assert.equal(await drain(run), 2);
  });
  assert.equal(await drain(run), 1);
});

test("a session that cannot be written down does not keep the others from expiring", async () => {
  const partner = await createPartner(api);
  await sweep();
  await seedSessions(partner.organizationId, 30);
  clock.advance(60 * minuteMs);
  const { id } = await core.db.one<{ id: string }>(
    sql`select id from sessions where organization_id = ${partner.organizationId} order by id offset 12 limit 1`,
  );
  await core.db.withConnection((client) =>
    client.query(`alter table events add constraint refuses check (session_id <> '${id}') not valid`),
  );
  const run = expireSessions(core, "expire-sessions");
  const left = async () =>
    core.db.rows<{ id: string }>(
      sql`select id from sessions where organization_id = ${partner.organizationId} and status = 'created'`,
    );
  await drain(run);
  assert.deepEqual(await left(), [{ id }]);
  await core.db.withConnection((client) => client.query("alter table events drop constraint refuses"));
  clock.advance(firstRetryMs);
  await drain(run);
  assert.deepEqual(await left(), []);
});

test("ended sessions go after their days with their attempts, open and younger ones stay, and so do the figures", async () => {
  const partner = await createPartner(api);
  const jobs = new Map(retentionJobs(core, beside).map((job) => [job.name, job.run]));
  const purge = () => drain(jobs.get("purge-sessions") ?? (() => Promise.resolve(-1)));
  await sweep();
  await purge();

  const old = await createSession(partner.api);
  const attemptId = await claimed(core, old);
  clock.advance(60 * secondMs);
  await succeed(core, old, attemptId);
  const ends = clock.now().getTime();
  clock.advance(10 * dayMs);
  const younger = await createSession(partner.api);
  await fail(core, younger, await claimed(core, younger));
  const figures = async () => {
    const query = { from: "2026-03-01", to: "2026-12-01" };
    const { totals, median_seconds_to_complete, failure_codes } = expectData(
      await partner.api.get("/v1/analytics/sessions/overview", query),
    );
    return { totals, median_seconds_to_complete, failure_codes };
  };
  const before = await figures();
  assert.equal(before.totals.succeeded, 1);

  clock.set(new Date(ends + 30 * dayMs));
  await sweep();
  await purge();
  assert.equal((await partner.api.get(`/v1/sessions/${old}`)).status, 200);
  clock.advance(1);
  assert.equal(await purge(), 1);
  assert.equal((await partner.api.get(`/v1/sessions/${old}`)).status, 404);
  assert.deepEqual(expectData(await partner.api.get(attemptsPath, { session_id: old })), []);
  assert.equal((await partner.api.get(`/v1/sessions/${younger}`)).status, 200);
  assert.deepEqual(await figures(), before);
});

test("attempts keep nothing but their outcome after their days", async () => {
  const partner = await createPartner(api);
  const minimise = retentionJobs(core, beside).find((job) => job.name === "minimise-attempts")?.run;
  assert.ok(minimise);
  const id = await createSession(partner.api);
  const attemptId = await claimed(core, id);
  await succeed(core, id, attemptId, 0.5);
  const [shown] = expectData(await partner.api.get(attemptsPath, { session_id: id }));
  const kept = () =>
    core.db.one(sql`select device_hash is null as no_device, last_seen_at is null as no_time from attempts
      where id = ${attemptId}`);
  clock.advance(7 * dayMs);
  await drain(minimise);
  assert.deepEqual(await kept(), { noDevice: false, noTime: false });
  clock.advance(1);
  assert.ok((await drain(minimise)) >= 1);
  assert.deepEqual(await kept(), { noDevice: true, noTime: true });
  assert.deepEqual(expectData(await partner.api.get(attemptsPath, { session_id: id })), [shown]);
  assert.equal(await drain(minimise), 0);
});

test("audit entries go after their days", async () => {
  const partner = await createPartner(api);
  const purge = retentionJobs(core, beside).find((job) => job.name === "purge-audit-logs")?.run;
  assert.ok(purge);
  clock.advance(1);
  const count = async () => expectData(await partner.owner.api.get("/v1/auth/orgs/audit-logs")).length;
  const written = await count();
  assert.ok(written > 0);
  clock.advance(365 * dayMs - 1);
  const before = (
    await core.db.one<{ n: number }>(sql`select count(*) as n from audit_logs
    where organization_id = ${partner.organizationId}`)
  ).n;
  await drain(purge);
  const rows = () =>
    core.db.one<{ n: number }>(sql`select count(*) as n from audit_logs
      where organization_id = ${partner.organizationId}`);
  assert.equal((await rows()).n, before);
  clock.advance(1);
  assert.ok((await drain(purge)) >= written);
  assert.equal((await rows()).n, 0);
});

test("the backlog of every job is in the metrics", async () => {
  const partner = await createPartner(api);
  await sweep();
  const measure = retentionJobs(core, beside).find((job) => job.name === "measure-backlog")?.run;
  assert.ok(measure);
  await seedSessions(partner.organizationId, 5);
  clock.advance(60 * minuteMs);
  assert.equal(await measure(), 0);
  const shown = core.metrics.render();
  assert.match(shown, /assay_backlog_items\{job="expire-sessions"\} 5/);
  for (const job of ["purge-sessions", "minimise-attempts", "purge-audit-logs"])
    assert.match(shown, new RegExp(`assay_backlog_items\\{job="${job}"\\} \\d+`));
});

test("a sandbox session expires as early as it was asked to, in every list and for the partner's endpoints", async () => {
  const run = expireSessions(core, "expire-sessions");
  await drain(run);
  const partner = await createPartner(api);
  await createSession(partner.api);
  const short = expectData(await partner.api.post("/v1/sessions", { expires_in_seconds: 60 }), 201);
  assert.equal(Date.parse(short.expires_at) - Date.parse(short.created_at), minuteMs);
  clock.advance(minuteMs - 1);
  assert.equal(await drain(run), 0);
  const seen = async () => ({
    status: expectData(await partner.api.get(`/v1/sessions/${short.id}`)).status,
    expired: expectData<{ id: string }[]>(await partner.api.get("/v1/sessions", { status: "expired" })).map(
      ({ id }) => id,
    ),
    created: expectData<unknown[]>(await partner.api.get("/v1/sessions", { status: "created" })).length,
    totals: expectData(await partner.api.get("/v1/analytics/sessions/overview")).totals.expired,
  });
  assert.deepEqual(await seen(), { status: "created", expired: [], created: 2, totals: 0 });
  clock.advance(1);
  const due = { status: "expired", expired: [short.id], created: 1, totals: 1 };
  assert.deepEqual(await seen(), due);
  assert.equal(await drain(run), 1);
  assert.deepEqual(await seen(), due);
  assert.deepEqual(await eventsOf(core, short.id), ["verification.session.expired"]);
});

test("a lifetime is asked for in the sandbox only, and between a minute and an hour", async () => {
  const partner = await createPartner(api);
  for (const expiresInSeconds of [59, 3601, 90.5])
    expectError(
      await partner.api.post("/v1/sessions", { expires_in_seconds: expiresInSeconds }),
      400,
      "BAD_REQUEST",
      /`expires_in_seconds`/,
    );
  expectData(await partner.api.post("/v1/sessions", { expires_in_seconds: 3600 }), 201);
  await openLive(core, partner.organizationId);
  const live = await withLiveKey(partner);
  expectError(
    await live.api.post("/v1/sessions", { expires_in_seconds: 60 }),
    400,
    "INVALID_REQUEST",
    /`expires_in_seconds`/,
  );
});
