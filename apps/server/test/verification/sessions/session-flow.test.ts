import assert from "node:assert/strict";
import test from "node:test";
import type { SessionId } from "@assay/contract/ids";
import { sql } from "../../../src/platform/db/sql.ts";
import { minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { hashToken } from "../../../src/platform/kernel/ids.ts";
import { spendCancelToken, touchAttempt } from "../../../src/verification/sessions/session.store.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import {
  cancelAsPerson,
  claim,
  claimed,
  createSession,
  deviceHash,
  eventsOf,
  fail,
  judge,
  passChip,
  succeed,
} from "../../support/sessions.ts";

const service = await startTestService({ role: "api" });
const { api, clock, core } = service;
const partner = await createPartner(api);
const attemptsPath = "/v1/sessions/attempts/attempts";

const read = async (id: string) => expectData(await partner.api.get(`/v1/sessions/${id}`));
const attemptsOf = async (id: string) => expectData(await partner.api.get(attemptsPath, { session_id: id }));
const cancel = (id: string) => partner.api.post(`/v1/sessions/${id}/cancel`);

test("a claim starts the session and an attempt; the same device resumes it", async () => {
  const id = await createSession(partner.api);
  clock.advance(secondMs);
  const attemptId = await claimed(core, id);
  assert.match(attemptId, /^va_[A-Za-z0-9]{64}$/);
  const session = await read(id);
  assert.equal(session.status, "in_progress");
  assert.equal(session.updated_at, clock.now().toISOString());
  assert.deepEqual(await attemptsOf(id), [
    {
      id: attemptId,
      session_id: id,
      status: "in_progress",
      failure_code: null,
      risk_score: 0,
      completed_at: null,
      created_at: clock.now().toISOString(),
      updated_at: clock.now().toISOString(),
    },
  ]);
  assert.deepEqual(await claim(core, id), { kind: "claimed", attemptId, resumed: true, tookOver: false });
  assert.equal((await attemptsOf(id)).length, 1);
});

test("another device is refused, or takes over and cancels the first attempt", async () => {
  const id = await createSession(partner.api);
  const first = await claimed(core, id);
  assert.deepEqual(await claim(core, id, "tablet"), { kind: "refused", why: "other_device" });
  clock.advance(1);
  const second = await claim(core, id, "tablet", true);
  assert.ok(second.kind === "claimed" && second.tookOver && !second.resumed);
  const [newer, older] = await attemptsOf(id);
  assert.deepEqual([older.id, older.status, older.failure_code], [first, "cancelled", null]);
  assert.equal(newer.status, "in_progress");
  // The first device can decide nothing any more.
  assert.deepEqual(await succeed(core, id, first), { kind: "session_over" });
  assert.deepEqual(await judge(core, id, first, "chip", 1, "document_expired"), { kind: "session_over" });
  assert.equal(await touchAttempt(core.db, first, clock.now()), false);
  assert.deepEqual(await eventsOf(core, id), []);
});

test("success ends session and attempt with one event, and the claims are nowhere in the database", async () => {
  const id = await createSession(partner.api);
  clock.advance(40 * secondMs);
  const attemptId = await claimed(core, id);
  clock.advance(40 * secondMs);
  assert.deepEqual(await succeed(core, id, attemptId, 0.25), {
    kind: "session_ended",
    verdict: { failureCode: null },
  });
  const session = await read(id);
  assert.equal(session.status, "succeeded");
  assert.equal(session.failure_code, null);
  assert.equal(session.completed_at, clock.now().toISOString());
  const [attempt] = await attemptsOf(id);
  assert.equal(attempt.status, "succeeded");
  assert.equal(attempt.risk_score, 0.25);
  assert.equal(attempt.completed_at, clock.now().toISOString());
  assert.deepEqual(await eventsOf(core, id), ["verification.session.succeeded"]);

  assert.deepEqual(await succeed(core, id, attemptId), { kind: "session_over" });
  assert.deepEqual(await claim(core, id), { kind: "refused", why: "ended" });
  expectError(await cancel(id), 409, "CONFLICT");
  assert.deepEqual(await eventsOf(core, id), ["verification.session.succeeded"]);

  for (const table of ["sessions", "attempts", "events", "audit_logs", "session_days", "session_outcomes"]) {
    const dump = await core.db.withConnection((client) =>
      client.query(`select coalesce(json_agg(t)::text, '') as dump from ${table} t`),
    );
    assert.ok(!dump.rows[0].dump.includes("CANARY"), `${table} holds no claim`);
  }
  assert.ok(!service.logLines.some((line) => line.includes("CANARY")));
});

test("failure ends session and attempt with the same code", async () => {
  const id = await createSession(partner.api);
  const attemptId = await claimed(core, id);
  assert.deepEqual(await fail(core, id, attemptId, "document_expired"), {
    kind: "session_ended",
    verdict: { failureCode: "document_expired" },
  });
  const session = await read(id);
  assert.deepEqual([session.status, session.failure_code], ["failed", "document_expired"]);
  const [attempt] = await attemptsOf(id);
  assert.deepEqual([attempt.status, attempt.failure_code], ["failed", "document_expired"]);
  assert.deepEqual(await eventsOf(core, id), ["verification.session.failed"]);
  expectError(await cancel(id), 409, "CONFLICT");
});

test("tries are counted once each, and the third that fails ends the session", async () => {
  const id = await createSession(partner.api);
  const attemptId = await claimed(core, id);
  const failureCode = "document_data_invalid";
  const chip = (number: number) => judge(core, id, attemptId, "chip", number, failureCode);
  const counted = { kind: "counted", step: "chip", verdict: { failureCode } };
  assert.deepEqual(await chip(1), counted);
  assert.deepEqual(await chip(1), { kind: "superseded" });
  assert.deepEqual(await chip(3), { kind: "superseded" });
  assert.equal((await judge(core, id, attemptId, "face", 1, "liveness_failed")).kind, "counted");
  assert.deepEqual(await chip(2), counted);
  assert.deepEqual((await read(id)).nfc_tries_used, 2);
  assert.deepEqual(await chip(3), { kind: "session_ended", verdict: { failureCode } });
  const session = await read(id);
  assert.deepEqual(
    [session.status, session.failure_code, session.nfc_tries_used, session.liveness_tries_used],
    ["failed", "document_data_invalid", 3, 1],
  );
  assert.deepEqual(await eventsOf(core, id), ["verification.session.failed"]);
  assert.deepEqual(await chip(3), { kind: "session_over" });
});

test("a chip that passed as the last try, and fails when it has to be read again, ends the session at three tries", async () => {
  const id = await createSession(partner.api);
  const attemptId = await claimed(core, id);
  for (const number of [1, 2]) await judge(core, id, attemptId, "chip", number, "document_data_invalid");
  assert.equal((await passChip(core, id, attemptId, 3)).kind, "counted");
  assert.deepEqual(await passChip(core, id, attemptId, 4), { kind: "superseded" });
  const failureCode = "document_expired";
  assert.deepEqual(await judge(core, id, attemptId, "chip", 4, failureCode), {
    kind: "session_ended",
    verdict: { failureCode },
  });
  const session = await read(id);
  assert.deepEqual(
    [session.status, session.failure_code, session.nfc_tries_used],
    ["failed", failureCode, 3],
  );
  assert.deepEqual(await eventsOf(core, id), ["verification.session.failed"]);
});

test("a session whose device was heard from in the last minute cannot be cancelled; an abandoned one can", async () => {
  const id = await createSession(partner.api);
  const attemptId = await claimed(core, id);
  expectError(await cancel(id), 409, "SESSION_IN_PROGRESS");
  clock.advance(minuteMs - 1);
  expectError(await cancel(id), 409, "SESSION_IN_PROGRESS");
  assert.equal(await touchAttempt(core.db, attemptId, clock.now()), true);
  clock.advance(minuteMs - 1);
  expectError(await cancel(id), 409, "SESSION_IN_PROGRESS");
  assert.deepEqual(await eventsOf(core, id), []);
  clock.advance(1);
  assert.equal((await cancel(id)).status, 204);
  assert.equal((await cancel(id)).status, 204);
  const [attempt] = await attemptsOf(id);
  assert.deepEqual([attempt.status, attempt.failure_code], ["cancelled", "session_cancelled"]);
  assert.equal((await read(id)).status, "cancelled");
  assert.equal(await touchAttempt(core.db, attemptId, clock.now()), false);
  assert.deepEqual(await eventsOf(core, id), ["verification.session.cancelled"]);
});

test("the person may abort at any time, also in flight", async () => {
  clock.advance(1);
  const id = await createSession(partner.api);
  await claimed(core, id);
  const abort = () => cancelAsPerson(core, id, "cancelled_by_user");
  assert.deepEqual(await abort(), { kind: "cancelled" });
  assert.deepEqual(await abort(), { kind: "already_cancelled" });
  const [entry] = expectData(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.cancelled" }),
  );
  assert.deepEqual(
    [entry.actor_type, entry.actor_id, entry.details.reason],
    ["person", null, "cancelled_by_user"],
  );
});

test("consent withdrawn before anything was delivered takes the success back", async () => {
  const withdraw = (id: SessionId) => cancelAsPerson(core, id, "consent_withdrawn");
  const early = await createSession(partner.api);
  await succeed(core, early, await claimed(core, early));
  clock.advance(1);
  assert.deepEqual(await withdraw(early), { kind: "cancelled" });
  assert.deepEqual(await withdraw(early), { kind: "already_cancelled" });
  assert.equal((await read(early)).status, "cancelled");
  assert.deepEqual(await eventsOf(core, early), [
    "verification.session.succeeded",
    "verification.session.cancelled",
  ]);
  // What the attempt proved does not change.
  assert.equal((await attemptsOf(early))[0].status, "succeeded");
});

test("the cancel token opens its own session, once", async () => {
  const { id, cancel_token } = expectData(await partner.api.post("/v1/sessions"), 201);
  const other = await createSession(partner.api);
  const spend = (sessionId: SessionId, token: string) =>
    core.db.transaction((tx) => spendCancelToken(tx, sessionId, hashToken(token), clock.now()));
  assert.equal(await spend(other, cancel_token), null);
  assert.equal(await spend(id, "x".repeat(43)), null);
  assert.deepEqual(await spend(id, cancel_token), { first: true });
  assert.deepEqual(await spend(id, cancel_token), { first: false });
});

test("an unknown session can be neither claimed nor finished nor cancelled", async () => {
  const nobody = `vs_${"a".repeat(64)}`;
  const device = { handoff_token: "t".repeat(43), device_id: "0b8f6f0e-6f0b-4c55-9d5b-0d6f8f7f3c11" };
  expectError(await api.post(`/v1/verify/session/${nobody}/claim`, device), 404, "SESSION_NOT_FOUND");
  expectError(await partner.api.post(`/v1/sessions/${nobody}/cancel`), 404, "SESSION_NOT_FOUND");
  assert.deepEqual(await succeed(core, nobody, "va_x"), { kind: "session_over" });
  assert.deepEqual(await judge(core, nobody, "va_x", "chip", 1, "document_expired"), {
    kind: "session_over",
  });
});

test("attempts are listed by status and by page, and only the organization's own", async () => {
  const own = await createPartner(api);
  const made: Record<string, string[]> = { in_progress: [], succeeded: [], failed: [], cancelled: [] };
  for (const status of ["succeeded", "failed", "cancelled", "in_progress", "succeeded", "failed"]) {
    clock.advance(1);
    const id = await createSession(own.api);
    const attemptId = await claimed(core, id);
    made[status]?.unshift(attemptId);
    if (status === "succeeded") await succeed(core, id, attemptId);
    if (status === "failed") await fail(core, id, attemptId);
    if (status === "cancelled") {
      clock.advance(minuteMs);
      expectData(await own.api.post(`/v1/sessions/${id}/cancel`), 204);
    }
  }
  const ids = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map((attempt) => attempt.id);
  for (const [status, expected] of Object.entries(made))
    assert.deepEqual(ids(await own.api.get(attemptsPath, { status })), expected, status);
  const first = await own.api.get(attemptsPath, { limit: 4 });
  const next = await own.api.get(attemptsPath, {
    limit: 4,
    starting_after: first.body.pagination?.next_cursor ?? "",
  });
  assert.equal(first.body.data.length, 4);
  assert.deepEqual(next.body.pagination, { limit: 4, has_more: false, next_cursor: null });
  assert.deepEqual(new Set([...ids(first), ...ids(next)]), new Set(Object.values(made).flat()));
  assert.deepEqual(ids(await (await createPartner(api)).api.get(attemptsPath)), []);
});

test("from the expiry on nothing can be claimed, judged, finished or cancelled", async () => {
  const open = await createSession(partner.api);
  clock.advance(1);
  const begun = await createSession(partner.api);
  const attemptId = await claimed(core, begun);
  clock.advance(60 * minuteMs - 1);
  assert.equal(await touchAttempt(core.db, attemptId, clock.now()), true);
  clock.advance(1);
  assert.equal(await touchAttempt(core.db, attemptId, clock.now()), false);
  assert.deepEqual(await claim(core, open), { kind: "refused", why: "expired" });
  assert.deepEqual(await claim(core, begun), { kind: "refused", why: "expired" });
  assert.deepEqual(await judge(core, begun, attemptId, "chip", 1, "document_expired"), {
    kind: "session_over",
  });
  assert.deepEqual(await succeed(core, begun, attemptId), { kind: "session_over" });
  for (const id of [open, begun]) {
    expectError(await cancel(id), 409, "SESSION_EXPIRED");
    assert.deepEqual(await eventsOf(core, id), []);
  }
  assert.deepEqual(
    await core.db.rows(sql`select status from sessions where id in (${open}, ${begun}) order by id`),
    [{ status: "created" }, { status: "in_progress" }],
  );
});

test("two devices that claim at the same moment get one attempt between them", async () => {
  const id = await createSession(partner.api);
  const results = await Promise.all(
    Array.from({ length: 6 }, (_, i) => claim(core, id, `device ${i}`, false)),
  );
  assert.equal(results.filter((result) => result.kind === "claimed").length, 1);
  const { hash } = await core.db.one<{ hash: Buffer }>(
    sql`select device_hash as hash from attempts where session_id = ${id}`,
  );
  assert.ok(Array.from({ length: 6 }, (_, i) => deviceHash(`device ${i}`)).some((each) => each.equals(hash)));
});
