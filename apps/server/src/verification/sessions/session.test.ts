import assert from "node:assert/strict";
import test from "node:test";
import { triesAllowed } from "@assay/contract/facts";
import {
  type CancelReason,
  cancelReasons,
  failureCodes,
  type SessionStatus,
  sessionStatuses,
} from "@assay/contract/sessions";
import fc from "fast-check";
import { knownId } from "../../platform/kernel/ids.ts";
import { plan, type StepsDone } from "./plan.ts";
import {
  attemptStatusAt,
  decideCancel,
  decideClaim,
  decideDecline,
  decideTry,
  expiryOf,
  inFlightMs,
  isInFlight,
  lastExpiredCreation,
  type OpenAttempt,
  type SessionState,
  sessionLifetimeMs,
  statusAt,
} from "./session.ts";

const now = new Date("2026-03-01T10:00:00.000Z");
const at = (offsetMs: number) => new Date(now.getTime() + offsetMs);
const planOf = (steps: StepsDone) => plan({ methods: ["document_chip"], steps });
const passedAt = now.toISOString();
const chipPassed = planOf({ chip: { tries: 1, passed_at: passedAt } });
const session = (status: SessionStatus, expiresInMs = 1): SessionState => ({
  status,
  expiresAt: at(expiresInMs),
  plan: chipPassed,
});
const device = Buffer.from("one");
const attempt = (over: Partial<OpenAttempt> = {}): OpenAttempt => ({
  id: knownId("va_1"),
  deviceHash: device,
  lastSeenAt: now,
  ...over,
});
const ended: SessionStatus[] = ["succeeded", "failed", "expired", "cancelled"];

test("an open session is expired from the exact millisecond of its expiry on, and no other status changes by time", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...sessionStatuses),
      fc.integer({ min: -sessionLifetimeMs, max: sessionLifetimeMs }),
      (status, expiresInMs) => {
        const open = status === "created" || status === "in_progress";
        const seen = statusAt({ status, expiresAt: at(expiresInMs) }, now);
        assert.equal(seen, open && expiresInMs <= 0 ? "expired" : status);
      },
    ),
  );
  assert.equal(statusAt(session("created", 1), now), "created");
  assert.equal(statusAt(session("created", 0), now), "expired");
});

test("a session is past its lifetime exactly when it was created at or before the last expired creation", () => {
  fc.assert(
    fc.property(fc.integer({ min: -2 * sessionLifetimeMs, max: 0 }), (ageMs) => {
      const createdAt = at(ageMs);
      assert.equal(expiryOf(createdAt) <= now, createdAt <= lastExpiredCreation(now));
    }),
  );
});

test("an attempt under way has failed from the expiry of its session on", () => {
  const open = (expiresInMs: number) =>
    attemptStatusAt({ status: "in_progress", failureCode: null, sessionExpiresAt: at(expiresInMs) }, now);
  assert.deepEqual(open(1), { status: "in_progress", failureCode: null, expired: false });
  assert.deepEqual(open(0), { status: "failed", failureCode: "session_expired", expired: true });
  for (const status of ["succeeded", "failed", "cancelled"] as const) {
    const over = attemptStatusAt({ status, failureCode: null, sessionExpiresAt: at(-1) }, now);
    assert.equal(over.status, status);
  }
});

test("a device is in flight for less than a minute after it was heard from", () => {
  assert.equal(inFlightMs, 60_000);
  assert.equal(isInFlight(attempt({ lastSeenAt: at(-inFlightMs + 1) }), now), true);
  assert.equal(isInFlight(attempt({ lastSeenAt: at(-inFlightMs) }), now), false);
  assert.equal(isInFlight(attempt({ lastSeenAt: null }), now), false);
});

test("only an open session can be claimed; who holds it resumes, others take over when they may", () => {
  // As a request brings it: equal to what is stored, and another buffer.
  const one = { hash: Buffer.from(device), mayTakeOver: false };
  const other = { hash: Buffer.from("two"), mayTakeOver: false };
  const taker = { hash: Buffer.from("two"), mayTakeOver: true };
  assert.deepEqual(decideClaim(session("created"), null, one, now), { kind: "start", cancelAttempt: null });
  assert.deepEqual(decideClaim(session("in_progress"), attempt(), one, now), {
    kind: "resume",
    attemptId: "va_1",
  });
  assert.deepEqual(decideClaim(session("in_progress"), attempt(), other, now), {
    kind: "refuse",
    why: "other_device",
  });
  const forgotten = attempt({ deviceHash: null });
  assert.deepEqual(decideClaim(session("in_progress"), forgotten, one, now), {
    kind: "refuse",
    why: "other_device",
  });
  assert.deepEqual(decideClaim(session("in_progress"), attempt(), taker, now), {
    kind: "start",
    cancelAttempt: "va_1",
  });
  // The page that makes an attempt by requests has no device.
  const page = { hash: null, mayTakeOver: false };
  const ofPage = attempt({ deviceHash: null });
  assert.deepEqual(decideClaim(session("created"), null, page, now), { kind: "start", cancelAttempt: null });
  assert.deepEqual(decideClaim(session("in_progress"), ofPage, page, now), {
    kind: "resume",
    attemptId: "va_1",
  });
  for (const [open, claims] of [
    [ofPage, one],
    [attempt(), page],
  ] as const)
    assert.deepEqual(decideClaim(session("in_progress"), open, claims, now), {
      kind: "refuse",
      why: "other_device",
    });
  for (const status of ended) {
    assert.deepEqual(decideClaim(session(status), null, taker, now), {
      kind: "refuse",
      why: status === "expired" ? "expired" : "ended",
    });
  }
  assert.deepEqual(decideClaim(session("created", 0), null, one, now), { kind: "refuse", why: "expired" });
});

const facePassed = { step: "face", number: 1, failureCode: null } as const;

test("only the attempt under way of an open session decides the outcome", () => {
  const decide = (of: SessionState, open: OpenAttempt | null, attemptId: string) =>
    decideTry(of, open, knownId(attemptId), facePassed, now);
  assert.deepEqual(decide(session("in_progress"), attempt(), "va_1"), { kind: "succeed" });
  assert.deepEqual(decide(session("in_progress"), attempt(), "va_2"), {
    kind: "refuse",
    why: "not_your_turn",
  });
  assert.deepEqual(decide(session("created"), null, "va_1"), { kind: "refuse", why: "not_your_turn" });
  assert.deepEqual(decide(session("in_progress", 0), attempt(), "va_1"), { kind: "refuse", why: "expired" });
  for (const status of ended) assert.equal(decide(session(status), attempt(), "va_1").kind, "refuse");
});

test("a step that passes is counted while another of its kind is open, and one that is not planned is refused", () => {
  const decide = (steps: StepsDone, step: string, number = 1) =>
    decideTry(
      { ...session("in_progress"), plan: planOf(steps) },
      attempt(),
      knownId("va_1"),
      { step, number, failureCode: null },
      now,
    );
  const [chip, face] = planOf({});
  assert.deepEqual(decide({}, "chip"), { kind: "count", step: chip });
  assert.deepEqual(decide({}, "face"), { kind: "count", step: face });
  assert.deepEqual(decide({ chip: { tries: 1, passed_at: passedAt } }, "face"), { kind: "succeed" });
  assert.deepEqual(decide({ chip: { tries: 1 } }, "face").kind, "count");
  assert.deepEqual(decide({ face: { tries: 2, passed_at: passedAt } }, "chip"), { kind: "succeed" });
  assert.deepEqual(decide({}, "presentation"), { kind: "refuse", why: "not_planned" });
});

test("a step that has passed with its last try is not passed once more, and fails the session when it is repeated in vain", () => {
  const plan = planOf({ chip: { tries: triesAllowed, passed_at: passedAt } });
  const repeated = (failureCode: (typeof failureCodes)[number] | null) =>
    decideTry(
      { ...session("in_progress"), plan },
      attempt(),
      knownId("va_1"),
      { step: "chip", number: triesAllowed + 1, failureCode },
      now,
    );
  assert.deepEqual(repeated(null), { kind: "refuse", why: "already_counted" });
  const [failureCode] = failureCodes;
  assert.deepEqual(repeated(failureCode), { kind: "fail", failureCode, counted: false });
});

test("a partner cancels what is open and not in flight; a person always; a success is only taken back by its person", () => {
  const decide = (status: SessionStatus, reason: CancelReason, open: OpenAttempt | null = null) =>
    decideCancel(session(status), open, reason, now);
  for (const reason of cancelReasons) {
    assert.deepEqual(decide("created", reason), { kind: "cancel" });
    assert.deepEqual(decide("cancelled", reason), { kind: "none" });
    assert.deepEqual(decide("expired", reason), { kind: "refuse", why: "expired" });
    assert.deepEqual(decide("failed", reason), { kind: "refuse", why: "ended" });
    assert.deepEqual(decideCancel(session("created", 0), null, reason, now), {
      kind: "refuse",
      why: "expired",
    });
  }
  assert.deepEqual(decide("succeeded", "cancelled_by_partner"), { kind: "refuse", why: "ended" });
  assert.deepEqual(decide("succeeded", "cancelled_by_user"), { kind: "refuse", why: "ended" });
  assert.deepEqual(decide("succeeded", "consent_withdrawn"), { kind: "cancel" });
  assert.deepEqual(decide("in_progress", "cancelled_by_partner", attempt()), {
    kind: "refuse",
    why: "in_flight",
  });
  const silent = attempt({ lastSeenAt: at(-inFlightMs) });
  assert.deepEqual(decide("in_progress", "cancelled_by_partner", silent), { kind: "cancel" });
  assert.deepEqual(decide("in_progress", "cancelled_by_user", attempt()), { kind: "cancel" });
});

test("only open sessions without consent can be declined; a cancelled one does not change", () => {
  const decide = (status: SessionStatus, agreed = false) => decideDecline(session(status), agreed, now);
  assert.deepEqual(decide("created"), { kind: "cancel" });
  assert.deepEqual(decide("cancelled"), { kind: "none" });
  assert.deepEqual(decide("expired"), { kind: "refuse", why: "expired" });
  assert.deepEqual(decideDecline(session("created", 0), false, now), { kind: "refuse", why: "expired" });
  for (const status of ["in_progress", "succeeded", "failed"] as const)
    assert.deepEqual(decide(status), { kind: "refuse", why: "agreed" });
  for (const status of ["created", "in_progress", ...ended] as const)
    assert.deepEqual(decide(status, true), { kind: "refuse", why: "agreed" });
});

test("the third try that fails ends the session, each try counts once, and there is no fourth", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          step: fc.constantFrom("chip" as const, "face" as const),
          passed: fc.boolean(),
          repeated: fc.boolean(),
        }),
        { maxLength: 12 },
      ),
      (tries) => {
        let done: StepsDone = {};
        for (const { step, passed, repeated } of tries) {
          const state = { ...session("in_progress"), plan: planOf(done) };
          const other = step === "chip" ? done.face : done.chip;
          const number = (done[step]?.tries ?? 0) + (repeated ? 0 : 1);
          const failureCode = passed ? null : failureCodes[0];
          const decision = decideTry(state, attempt(), knownId("va_1"), { step, number, failureCode }, now);
          if (repeated || (number > triesAllowed && passed)) {
            assert.deepEqual(decision, { kind: "refuse", why: "already_counted" });
            continue;
          }
          if (number >= triesAllowed && failureCode !== null) {
            assert.deepEqual(decision, { kind: "fail", failureCode, counted: number === triesAllowed });
            return;
          }
          if (passed && other?.passed_at !== undefined) {
            assert.deepEqual(decision, { kind: "succeed" });
            return;
          }
          assert.equal(decision.kind, "count");
          const before = done[step]?.passed_at;
          done = { ...done, [step]: { tries: number, ...(passed || before ? { passed_at: passedAt } : {}) } };
        }
      },
    ),
  );
});

/** The decisions played against each other in memory, in any order and at any time. */
test("no order of claim, try, finish, cancel and expiry ends a session twice", () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("claim" as const),
      device: fc.constantFrom("one", "two"),
      take: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("finish" as const), attempt: fc.constantFrom("va_1", "va_2", "va_3") }),
    fc.record({ kind: fc.constant("cancel" as const), reason: fc.constantFrom(...cancelReasons) }),
    fc.record({ kind: fc.constant("expire" as const) }),
    fc.record({ kind: fc.constant("heartbeat" as const) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: sessionLifetimeMs / 2 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let time = now;
      const state: SessionState = { ...session("created"), expiresAt: expiryOf(now) };
      let open: OpenAttempt | null = null;
      let attempts = 0;
      let ends = 0;
      let withdrawn = 0;
      for (const each of steps) {
        const before = statusAt(state, time);
        switch (each.kind) {
          case "wait":
            time = new Date(time.getTime() + each.ms);
            break;
          case "heartbeat":
            if (open !== null) open = { ...(open as OpenAttempt), lastSeenAt: time };
            break;
          case "claim": {
            const hash = Buffer.from(each.device);
            const decision = decideClaim(state, open, { hash, mayTakeOver: each.take }, time);
            if (decision.kind === "start") {
              assert.ok(before === "created" || before === "in_progress");
              state.status = "in_progress";
              attempts += 1;
              open = { id: knownId(`va_${attempts}`), deviceHash: hash, lastSeenAt: time };
            }
            break;
          }
          case "finish":
            if (decideTry(state, open, knownId(each.attempt), facePassed, time).kind === "succeed") {
              assert.equal(before, "in_progress");
              state.status = "succeeded";
              open = null;
              ends += 1;
            }
            break;
          case "cancel":
            if (decideCancel(state, open, each.reason, time).kind === "cancel") {
              if (before === "succeeded") withdrawn += 1;
              else ends += 1;
              state.status = "cancelled";
              open = null;
            }
            break;
          case "expire":
            if (before === "expired" && state.status !== "expired") {
              state.status = "expired";
              open = null;
              ends += 1;
            }
            break;
        }
        assert.ok(ends <= 1 && withdrawn <= 1, "a session ends once");
        if (ended.includes(before) && !(before === "succeeded" && withdrawn === 1))
          assert.equal(statusAt(state, time), before, "an end is final");
      }
      assert.equal(ends === 1, ended.includes(state.status));
    }),
    { numRuns: 500 },
  );
});
