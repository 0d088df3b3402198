import assert from "node:assert/strict";
import test from "node:test";
import { dayMs, secondMs } from "../../src/kernel/clock.ts";
import { type Api, allScopes, createKey, createPartner, expectData, expectError } from "../support/api.ts";
import { openLive, withLiveKey } from "../support/live.ts";
import { startTestService } from "../support/service.ts";
import { cancelAsPerson, claimed, createSession, fail, succeed } from "../support/sessions.ts";

const { api, clock, core } = await startTestService({ role: "api" });
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
  };
  assert.deepEqual(rest, {
    from: "2026-02-28",
    to: "2026-03-02",
    sandbox: true,
    totals: { total: 9, created: 1, in_progress: 1, succeeded: 3, failed: 3, expired: 0, cancelled: 1 },
    days: [
      { date: "2026-02-28", ...none },
      { date: "2026-03-01", ...none, total: 1, succeeded: 1 },
      {
        date: "2026-03-02",
        total: 8,
        created: 1,
        in_progress: 1,
        succeeded: 2,
        failed: 3,
        expired: 0,
        cancelled: 1,
      },
    ],
    success_rate: 0.4286,
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
    expectError(await caller.get(path, { sandbox: other }), 400, "INVALID_REQUEST", /`sandbox`/);
});

test("another organization's sessions do not count", async () => {
  const [one, other] = [await createPartner(api), await createPartner(api)];
  await createSession(one.api);
  assert.equal(expectData(await other.api.get(path)).totals.total, 0);
});

test("sessions that end at the same moment are all counted", async () => {
  const partner = await createPartner(api);
  const ids = await Promise.all(Array.from({ length: 24 }, () => createSession(partner.api)));
  await Promise.all(ids.map((id) => partner.api.post(`/v1/sessions/${id}/cancel`)));
  const { totals } = expectData(await partner.api.get(path));
  assert.deepEqual([totals.cancelled, totals.total], [24, 24]);
});

test("a bad period names the parameter", async () => {
  const partner = await createPartner(api);
  const refused = async (query: Record<string, string>, code: string, message: RegExp) =>
    expectError(await partner.api.get(path, query), 400, code, message);
  await refused({ from: "yesterday" }, "BAD_REQUEST", /`from`/);
  await refused({ to: "2026-02-31" }, "BAD_REQUEST", /`to`/);
  await refused({ to: "2026-02-31T00:00:00Z" }, "BAD_REQUEST", /`to`/);
  await refused({ to: "0000-01-01" }, "BAD_REQUEST", /`to`/);
  await refused({ from: "2026-03-02", to: "2026-03-01" }, "INVALID_REQUEST", /`from`/);
  await refused({ from: "2025-01-01", to: "2026-03-01" }, "INVALID_REQUEST", /366 days/);
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

test("a success that was taken back leaves the figures", async () => {
  clock.advance(dayMs);

  const partner = await createPartner(api);
  const id = await createSession(partner.api);
  await succeed(core, id, await claimed(core, id));
  await cancelAsPerson(core, id, "consent_withdrawn", async () => "nothing_delivered");
  const overview = expectData(await partner.api.get(path));
  assert.deepEqual([overview.totals.total, overview.totals.succeeded, overview.totals.cancelled], [1, 0, 1]);
  assert.equal(overview.median_seconds_to_complete, null);
});
