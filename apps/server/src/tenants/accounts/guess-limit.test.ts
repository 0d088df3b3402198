import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { delayAfter, forgottenAt, type LimitRule, type LimitState, rules, tryOnce } from "./guess-limit.ts";

const start = new Date("2026-03-01T09:30:00.000Z");
const anyRule = fc.record({
  free: fc.integer({ min: 1, max: 20 }),
  firstDelayMs: fc.integer({ min: 1, max: 60_000 }),
  maxDelayMs: fc.integer({ min: 60_000, max: 900_000 }),
  drainMs: fc.integer({ min: 1, max: 3_600_000 }),
}) satisfies fc.Arbitrary<LimitRule>;

test("the free tries pass at once, and the next one waits", () => {
  fc.assert(
    fc.property(anyRule, (rule) => {
      let state: LimitState | null = null;
      for (let i = 0; i < rule.free; i++) {
        const verdict = tryOnce(state, rule, start);
        assert.ok(verdict.allowed);
        state = verdict.next;
      }
      assert.deepEqual(tryOnce(state, rule, start), { allowed: false, retryAfterMs: rule.firstDelayMs });
    }),
  );
});

test("whatever the timing, a refusal ends when it says, and no wait is longer than the longest", () => {
  fc.assert(
    fc.property(
      anyRule,
      fc.array(fc.integer({ min: 0, max: 1_200_000 }), { maxLength: 60 }),
      (rule, pauses) => {
        let state: LimitState | null = null;
        let now = start;
        for (const pause of pauses) {
          now = later(now, pause);
          const verdict = tryOnce(state, rule, now);
          if (verdict.allowed) {
            assert.ok(verdict.next.level >= 1);
            assert.ok(forgottenAt(verdict.next, rule) > now);
            state = verdict.next;
            continue;
          }
          assert.ok(verdict.retryAfterMs > 0 && verdict.retryAfterMs <= rule.maxDelayMs);
          assert.ok(tryOnce(state, rule, later(now, verdict.retryAfterMs)).allowed);
        }
      },
    ),
  );
});

test("somebody who never pauses gets no more guesses in a day than the longest wait allows", () => {
  const rule = rules.accountAndOrigin;
  let state: LimitState | null = null;
  let guesses = 0;
  // Without a bound, a limit that allows everything would keep this loop's clock from moving.
  for (let now = start; now < later(start, 24 * 60 * minuteMs) && guesses < 1000; ) {
    const verdict = tryOnce(state, rule, now);
    if (verdict.allowed) {
      guesses += 1;
      state = verdict.next;
    } else now = later(now, verdict.retryAfterMs);
  }
  assert.ok(guesses > rule.free && guesses < 120, String(guesses));
});

test("after the time at which it is forgotten, a state counts for nothing", () => {
  fc.assert(
    fc.property(anyRule, fc.integer({ min: 1, max: 30 }), (rule, tries) => {
      let state: LimitState | null = null;
      let now = start;
      for (let i = 0; i < tries; i++) {
        const verdict = tryOnce(state, rule, now);
        if (!verdict.allowed) now = later(now, verdict.retryAfterMs);
        else state = verdict.next;
      }
      if (state === null) return;
      const forgotten = forgottenAt(state, rule);
      assert.deepEqual(tryOnce(state, rule, forgotten), tryOnce(null, rule, forgotten));
    }),
  );
});

test("waits double and stop at the longest", () => {
  const rule = { free: 3, firstDelayMs: secondMs, maxDelayMs: 10 * secondMs, drainMs: minuteMs };
  const delays = [1, 2, 3, 4, 5, 6, 7, 1e6].map((level) => delayAfter(level, rule) / secondMs);
  assert.deepEqual(delays, [0, 0, 1, 2, 4, 8, 10, 10]);
});

test("a bucket drains by one try in its time, and a wait ends to the millisecond", () => {
  const rule = { free: 2, firstDelayMs: secondMs, maxDelayMs: minuteMs, drainMs: minuteMs };
  const after = (state: LimitState | null, ms: number) => tryOnce(state, rule, later(start, ms));
  const full: LimitState = { level: 2, updatedAt: start, blockedUntil: later(start, secondMs) };
  assert.deepEqual(after(full, secondMs - 1), { allowed: false, retryAfterMs: 1 });
  const waited = after(full, secondMs);
  assert.ok(waited.allowed && waited.next.blockedUntil !== null);
  assert.equal(waited.next.level, 3 - secondMs / minuteMs);
  assert.deepEqual(after(full, minuteMs), {
    allowed: true,
    next: { level: 2, updatedAt: later(start, minuteMs), blockedUntil: later(start, minuteMs + secondMs) },
  });
  assert.deepEqual(after(full, 5 * minuteMs), {
    allowed: true,
    next: { level: 1, updatedAt: later(start, 5 * minuteMs), blockedUntil: null },
  });
  assert.deepEqual(after({ ...full, blockedUntil: null }, -minuteMs), {
    allowed: true,
    next: {
      level: 3,
      updatedAt: later(start, -minuteMs),
      blockedUntil: later(start, 2 * secondMs - minuteMs),
    },
  });
});

test("a state is forgotten when its bucket is empty and its wait is over, whichever is later", () => {
  const rule = { free: 2, firstDelayMs: secondMs, maxDelayMs: minuteMs, drainMs: 10 };
  const state: LimitState = { level: 2.05, updatedAt: start, blockedUntil: null };
  assert.deepEqual(forgottenAt(state, rule), later(start, 22));
  assert.deepEqual(forgottenAt({ ...state, blockedUntil: later(start, 21) }, rule), later(start, 22));
  assert.deepEqual(forgottenAt({ ...state, blockedUntil: later(start, 23) }, rule), later(start, 23));
});

test("the wait stays finite however many tries there were", () => {
  const rule = { free: 1, firstDelayMs: 1, maxDelayMs: Number.MAX_SAFE_INTEGER, drainMs: 1 };
  assert.equal(delayAfter(31, rule), 2 ** 30);
  assert.equal(delayAfter(32, rule), 2 ** 30);
  assert.equal(delayAfter(1.5, { ...rule, firstDelayMs: 10 }), 15, "parts of a try are rounded up");
});

test("a mailed link outlives the longest wait for the next one", () => {
  assert.ok(rules.mailToAccount.maxDelayMs < 15 * minuteMs);
});
