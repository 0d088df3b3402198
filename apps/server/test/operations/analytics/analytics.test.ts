import assert from "node:assert/strict";
import test from "node:test";
import { readDeliveryHealth } from "../../../src/delivery/webhooks/delivery-health.store.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, later, secondMs } from "../../../src/platform/kernel/clock.ts";
import { countSessionOutcomes } from "../../../src/verification/sessions/count-outcomes.job.ts";
import { expireSessions } from "../../../src/verification/sessions/expire-sessions.job.ts";
import { type Api, allScopes, createKey, createPartner, expectData, expectError } from "../../support/api.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { createReceivingEndpoint } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { cancelAsPerson, claimed, createSession, fail, passChip, succeed } from "../../support/sessions.ts";

const { api, clock, core } = await startTestService({
  role: "api",
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
const path = "/v1/analytics/sessions/overview";

test("the overview counts every session by status and day, with rate, median and failure codes", async () => {
  clock.set(new Date("2026-03-01T23:59:30.000Z"));
  const partner = await createPartner(api);
  const finish = async (seconds: number) => {
    const id = await createSession(partner.api);
    const attempt = await claimed(core, id);
    clock.advance(seconds * secondMs);
    await succeed(core, id, attempt);
  };
  // Created on the first, finished on the second: it counts on the first.
  await finish(100);
  await finish(50);
  await finish(400);
  for (const code of ["document_expired", "liveness_failed", "document_expired"] as const) {
    const id = await createSession(partner.api);
    await fail(core, id, await claimed(core, id), code);
  }
  const cancelled = await createSession(partner.api);
  await partner.api.post(`/v1/sessions/${cancelled}/cancel`);
  await claimed(core, await createSession(partner.api));
  await createSession(partner.api);

  const overview = expectData(await partner.api.get(path, { from: "2026-02-28", to: "2026-03-02" }));
  const { median_seconds_to_complete, ...rest } = overview;
  assert.ok(Math.abs(median_seconds_to_complete - 100) <= 2.1, String(median_seconds_to_complete));
  const none = {
    total: 0,
    created: 0,
    in_progress: 0,
    succeeded: 0,
    failed: 0,
    expired: 0,
    cancelled: 0,
    median_seconds_to_complete: null,
  };
  const median = (date: string) =>
    overview.days.find((day: { date: string }) => day.date === date).median_seconds_to_complete;
  assert.ok(Math.abs(median("2026-03-02") - 50) <= 1.1, "each day has a median of its own");
  assert.deepEqual(rest, {
    from: "2026-02-28",
    to: "2026-03-02",
    sandbox: true,
    totals: { total: 9, created: 1, in_progress: 1, succeeded: 3, failed: 3, expired: 0, cancelled: 1 },
    days: [
      { date: "2026-02-28", ...none },
      {
        date: "2026-03-01",
        ...none,
        total: 1,
        succeeded: 1,
        median_seconds_to_complete: median("2026-03-01"),
      },
      {
        date: "2026-03-02",
        total: 8,
        created: 1,
        in_progress: 1,
        succeeded: 2,
        failed: 3,
        expired: 0,
        cancelled: 1,
        median_seconds_to_complete: median("2026-03-02"),
      },
    ],
    success_rate: 0.4286,
    p90_seconds_to_complete: rest.p90_seconds_to_complete,
    durations: [
      { up_to_seconds: 30, count: 0 },
      { up_to_seconds: 60, count: 1 },
      { up_to_seconds: 120, count: 1 },
      { up_to_seconds: 300, count: 0 },
      { up_to_seconds: 600, count: 1 },
      { up_to_seconds: 1800, count: 0 },
      { up_to_seconds: null, count: 0 },
    ],
    // Of ended sessions. The one that failed at the chip was never opened in a page.
    funnel: {
      created: 7,
      opened: 4,
      agreed: 4,
      chip_read: 4,
      face_captured: 4,
      wallet_presented: 0,
      succeeded: 3,
    },
    methods: { document_chip: 3 },
    failure_codes: { document_expired: 2, liveness_failed: 1 },
  });
  assert.equal(
    expectData(await partner.api.get(path, { from: "2026-03-01", to: "2026-03-01" })).totals.total,
    1,
  );
  // A time stands for its day.
  const byTime = await partner.api.get(path, {
    from: "2026-03-02T05:00:00+09:00",
    to: "2026-03-01T12:00:00Z",
  });
  assert.deepEqual([expectData(byTime).from, expectData(byTime).to], ["2026-03-01", "2026-03-01"]);
});

test("figures are exactly the same before and after outcomes are added up, after a crash in between, and when two processes do it at once", async () => {
  clock.set(new Date("2026-03-20T12:00:00.000Z"));
  const partner = await createPartner(api);
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) {
    const id = await createSession(partner.api);
    ids.push(id);
    const attempt = await claimed(core, id);
    clock.advance(i * secondMs);
    if (i % 3 === 0) await succeed(core, id, attempt);
    else if (i % 3 === 1) await fail(core, id, attempt, i === 1 ? "document_expired" : "liveness_failed");
    else assert.equal((await cancelAsPerson(core, id, "cancelled_by_user")).kind, "cancelled");
  }
  const overview = async () => expectData(await partner.api.get(path));
  const waiting = async () =>
    (await core.db.rows(sql`select from session_outcomes where organization_id = ${partner.organizationId}`))
      .length;
  const before = await overview();
  assert.deepEqual(
    [before.totals.succeeded, before.totals.failed, before.totals.cancelled, before.funnel.created],
    [4, 4, 4, 12],
  );
  assert.equal(await waiting(), 12);

  await core.db.run(sql`
    create function fail_once() returns trigger language plpgsql as $$
    begin raise exception 'dies here' using errcode = 'admin_shutdown'; end $$`);
  await core.db.run(
    sql`create trigger fail_once before delete on session_outcomes for each statement execute function fail_once()`,
  );
  const count = () => countSessionOutcomes(core, "count-outcomes");
  await assert.rejects(count());
  assert.deepEqual(await overview(), before, "what was added before the crash is not there");
  await core.db.run(sql`drop trigger fail_once on session_outcomes`);

  await Promise.all([count(), count()]);
  assert.deepEqual(await overview(), before);
  assert.equal(await waiting(), 0);
  assert.equal(await count(), 0);
  assert.deepEqual(await overview(), before);

  // More of the same day are added to the existing row.
  const more = await createSession(partner.api);
  assert.equal((await partner.api.post(`/v1/sessions/${more}/cancel`)).status, 204);
  await count();
  assert.equal((await overview()).totals.cancelled, 5);
});

test("without a period it is the last 30 days; without sessions there is no rate and no median", async () => {
  clock.set(new Date("2026-05-10T12:00:00.000Z"));
  const partner = await createPartner(api);
  const overview = expectData(await partner.api.get(path));
  assert.deepEqual([overview.from, overview.to, overview.days.length], ["2026-04-11", "2026-05-10", 30]);
  assert.equal(overview.success_rate, null);
  assert.equal(overview.median_seconds_to_complete, null);
  assert.deepEqual(overview.failure_codes, {});
});

test("live figures and test figures are apart", async () => {
  const partner = await createPartner(api);
  await openLive(core, partner.organizationId);
  const live = await withLiveKey(partner);
  await createSession(partner.api);
  await createSession(live.api);
  await createSession(live.api);
  const total = async (caller: Api, query: Record<string, string> = {}) => {
    const overview = expectData(await caller.get(path, query));
    return [overview.sandbox, overview.totals.total];
  };
  assert.deepEqual(await total(live.api), [false, 2]);
  assert.deepEqual(await total(live.api, { sandbox: "false" }), [false, 2]);
  assert.deepEqual(await total(partner.api), [true, 1]);
  assert.deepEqual(await total(partner.owner.api.in("live")), [false, 2]);
  assert.deepEqual(await total(partner.owner.api), [true, 1]);
  for (const [caller, other] of [
    [live.api, "true"],
    [partner.api, "false"],
  ] as const)
    expectError(await caller.get(path, { sandbox: other }), 400, "OTHER_ENVIRONMENT", /`sandbox`/);
});

test("another organization's sessions do not count", async () => {
  const [one, other] = [await createPartner(api), await createPartner(api)];
  await createSession(one.api);
  assert.equal(expectData(await other.api.get(path)).totals.total, 0);
});

test("sessions that end at the same moment are all counted", async () => {
  const partner = await createPartner(api);
  const ids = await Promise.all(Array.from({ length: 20 }, () => createSession(partner.api)));
  await Promise.all(ids.map((id) => partner.api.post(`/v1/sessions/${id}/cancel`)));
  const { totals } = expectData(await partner.api.get(path));
  assert.deepEqual([totals.cancelled, totals.total], [20, 20]);
});

test("a bad period names the parameter", async () => {
  const partner = await createPartner(api);
  const refused = async (query: Record<string, string>, code: string, message: RegExp) =>
    expectError(await partner.api.get(path, query), 400, code, message);
  await refused({ from: "yesterday" }, "BAD_REQUEST", /`from`/);
  await refused({ to: "2026-02-31" }, "BAD_REQUEST", /`to`/);
  await refused({ to: "2026-02-31T00:00:00Z" }, "BAD_REQUEST", /`to`/);
  await refused({ to: "0000-01-01" }, "BAD_REQUEST", /`to`/);
  await refused({ from: "2026-03-02", to: "2026-03-01" }, "PERIOD_INVALID", /`from`/);
  await refused({ from: "2025-01-01", to: "2026-03-01" }, "PERIOD_INVALID", /366 days/);
  await refused({ day: "2026-03-01" }, "BAD_REQUEST", /`day` is not a parameter/);
  await refused({ sandbox: "perhaps" }, "BAD_REQUEST", /`sandbox`/);
  const year = expectData(await partner.api.get(path, { from: "2024-01-01", to: "2024-12-31" }));
  assert.equal(year.days.length, 366);
});

test("the overview needs analytics:read", async () => {
  const partner = await createPartner(api);
  const key = await createKey(
    partner.owner,
    allScopes.filter((scope) => scope !== "analytics:read"),
  );
  expectError(await key.api.get(path), 403, "FORBIDDEN", /analytics:read/);
});

test("a session counts in the funnel as far as it got, whether it is cancelled, fails or expires", async () => {
  clock.advance(dayMs);
  const partner = await createPartner(api);
  const funnel = async () => Object.values(expectData(await partner.api.get(path)).funnel);
  const [unseen, seen, tried] = [
    await createSession(partner.api),
    await createSession(partner.api),
    await createSession(partner.api),
  ];
  for (const id of [seen, seen, tried]) expectData(await api.get(`/v1/verify/session/${id}/details`));
  const attempt = await claimed(core, tried);
  await passChip(core, tried, attempt, 1);
  assert.deepEqual(await funnel(), [0, 0, 0, 0, 0, 0, 0], "only what has ended is counted");
  expectData(await partner.api.post(`/v1/sessions/${unseen}/cancel`), 204);
  await fail(core, tried, attempt);
  assert.deepEqual(await funnel(), [2, 1, 1, 1, 1, 0, 0]);
  const day = expectData(await partner.api.get(path)).to;
  clock.advance(2 * 60 * 60 * secondMs);
  await expireSessions(core, "expire-sessions")();
  const { funnel: later } = expectData(await partner.api.get(path, { from: day, to: day }));
  assert.deepEqual(Object.values(later), [3, 2, 1, 1, 1, 0, 0]);
});

test("the health of webhooks is about the latest deliveries of this organization's environment only", async () => {
  clock.advance(dayMs);
  const [partner, other] = [await createPartner(api), await createPartner(api)];
  const health = "/v1/analytics/webhooks/overview";
  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  const none = expectData(await partner.api.get(health));
  assert.deepEqual([none.counted, none.since, none.endpoints], [0, null, []]);
  for (let number = 0; number < 3; number++)
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  const rows = await core.db.rows<{ id: string }>(
    sql`select id from webhook_deliveries where endpoint_id = ${endpoint.id} order by id`,
  );
  await core.db.run(sql`
    update webhook_deliveries set status = 'succeeded', attempt_count = 1, last_attempt_at = created_at + interval '2 seconds'
    where id = ${rows[0]?.id ?? ""}`);
  await core.db.run(sql`
    update webhook_deliveries set status = 'failed', failed = true, attempt_count = 9 where id = ${rows[1]?.id ?? ""}`);
  const { from, to, since, ...found } = expectData(await partner.api.get(health));
  const counts = { delivered: 1, waiting: 1, failed: 1 };
  assert.deepEqual(found, {
    sandbox: true,
    counted: 3,
    is_capped: false,
    ...counts,
    delivered_at_first_try: 1,
    median_seconds_to_deliver: 2,
    endpoints: [{ webhook_endpoint_id: endpoint.id, ...counts }],
  });
  assert.ok(from < to && since !== null);
  const tenant = { organizationId: partner.organizationId, environment: "sandbox" } as const;
  const period = { from: new Date(since), before: later(clock.now(), dayMs) };
  const latest = async (most: number) => {
    const { counted, isCapped } = await readDeliveryHealth(core.db, tenant, period, most);
    return [counted, isCapped];
  };
  assert.deepEqual(
    [await latest(2), await latest(3)],
    [
      [2, true],
      [3, false],
    ],
  );
  assert.equal(expectData(await other.api.get(health)).counted, 0);
  assert.equal(
    expectData(await partner.api.get(health, { from: "2020-01-01", to: "2020-01-02" })).counted,
    0,
  );
  expectError(await partner.api.get(health, { from: "x" }), 400, "BAD_REQUEST", /`from`/);
  expectError(
    await partner.api.get(health, { from: "2026-03-02", to: "2026-03-01" }),
    400,
    "PERIOD_INVALID",
    /`from`/,
  );
});

test("a success that was taken back leaves the figures", async () => {
  clock.advance(dayMs);

  const partner = await createPartner(api);
  const id = await createSession(partner.api);
  const attempt = await claimed(core, id);
  clock.advance(50 * secondMs);
  await succeed(core, id, attempt);
  // It is taken back with the time that it took, not with the time that has passed since.
  clock.advance(500 * secondMs);
  await cancelAsPerson(core, id, "consent_withdrawn");
  const overview = expectData(await partner.api.get(path));
  assert.deepEqual([overview.totals.total, overview.totals.succeeded, overview.totals.cancelled], [1, 0, 1]);
  assert.equal(overview.median_seconds_to_complete, null);
  assert.deepEqual(
    overview.durations.map(({ count }: { count: number }) => count),
    [0, 0, 0, 0, 0, 0, 0],
  );
});
