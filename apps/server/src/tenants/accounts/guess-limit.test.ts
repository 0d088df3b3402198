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
  // Without a bound, a limit that lets everything through would keep the clock of this loop from moving.
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

test("a mailed link outlives the longest wait for the next one", () => {
  assert.ok(rules.mailToAccount.maxDelayMs < 15 * minuteMs);
});
