import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { dayMs, hourMs, later } from "../../platform/kernel/clock.ts";
import {
  type AttemptResult,
  afterAttempt,
  disableAfterMs,
  disabledBy,
  errorOfStatus,
  maxTries,
  parseRetryAfter,
  retryDelaysMs,
} from "./delivery.ts";

const now = new Date("2026-03-01T09:30:00.000Z");
const ok: AttemptResult = { statusCode: 200, error: null, retryAfter: null };
const refused: AttemptResult = { statusCode: 500, error: "status_not_2xx", retryAfter: null };
const anyRandom = fc.double({ min: 0, max: 0.999999, noNaN: true });
const anyTries = fc.integer({ min: 0, max: 50 });
const anyRetention = fc.constantFrom(0, 24, 72, 168);

test("a delivery that always fails is tried eight times over the published schedule, then failed", () => {
  let at = now;
  const waits: number[] = [];
  for (let tries = 0; ; tries++) {
    const next = afterAttempt({ triesUsed: tries, retentionHours: 72 }, refused, at, 0);
    if (next.status !== "pending") {
      assert.equal(tries + 1, maxTries);
      assert.deepEqual(
        [next.status, next.scrub, next.payloadExpiresAt],
        ["failed", false, later(at, 72 * hourMs)],
      );
      break;
    }
    waits.push(next.nextAttemptAt.getTime() - at.getTime());
    at = next.nextAttemptAt;
  }
  assert.deepEqual(waits, [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000]);
});

test("a 2xx always ends the delivery and scrubs it", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 200, max: 299 }),
      anyTries,
      anyRetention,
      anyRandom,
      (status, tries, hours, random) => {
        assert.equal(errorOfStatus(status), null);
        const result = { statusCode: status, error: errorOfStatus(status), retryAfter: "60" };
        assert.deepEqual(afterAttempt({ triesUsed: tries, retentionHours: hours }, result, now, random), {
          ...{ status: "succeeded", nextAttemptAt: null },
          ...{ scrub: true, payloadExpiresAt: null },
        });
      },
    ),
  );
});

test("a retry is never early, at most a tenth late, and later only because the partner asked", () => {
  const header = fc.option(fc.integer({ min: 0, max: 200_000 }).map(String));
  fc.assert(
    fc.property(anyTries, anyRetention, anyRandom, header, (tries, hours, random, retryAfter) => {
      const next = afterAttempt(
        { triesUsed: tries, retentionHours: hours },
        { ...refused, retryAfter },
        now,
        random,
      );
      const delay = retryDelaysMs[tries];
      if (delay === undefined) {
        assert.equal(next.status, "failed");
        if (next.status === "failed") assert.equal(next.scrub, hours === 0);
        return;
      }
      assert.equal(next.status, "pending");
      if (next.status !== "pending") return;
      const wait = next.nextAttemptAt.getTime() - now.getTime();
      const asked = Math.min(Number(retryAfter ?? 0) * 1000, dayMs);
      assert.ok(wait >= delay && wait >= asked);
      assert.ok(wait <= Math.max(delay * 1.1, asked) + 1);
    }),
  );
});

test("deliveries that failed together come back spread over a tenth of the wait", () => {
  for (const [tries, delay] of retryDelaysMs.entries()) {
    const waitAt = (random: number) => {
      const next = afterAttempt({ triesUsed: tries, retentionHours: 72 }, refused, now, random);
      assert.equal(next.status, "pending");
      return next.status === "pending" ? next.nextAttemptAt.getTime() - now.getTime() : 0;
    };
    assert.equal(waitAt(0), delay);
    assert.equal(waitAt(0.5), delay * 1.05);
    assert.equal(waitAt(0.99), delay * 1.099);
  }
});

test("Retry-After is read as seconds or as a date and never reaches beyond a day", () => {
  assert.equal(parseRetryAfter("120", now), 120_000);
  assert.equal(parseRetryAfter(" 0 ", now), 0);
  assert.equal(parseRetryAfter("Sun, 01 Mar 2026 09:31:00 GMT", now), 60_000);
  assert.equal(parseRetryAfter("Sun, 01 Mar 2020 09:31:00 GMT", now), 0);
  assert.equal(parseRetryAfter("Sun, 01 Mar 2099 09:31:00 GMT", now), dayMs);
  assert.equal(parseRetryAfter("99999999999999999999", now), dayMs);
  for (const odd of [null, "", "soon", "-5", "1.5", "1e3", "0x10", "Monday", `Sun, ${"9".repeat(1000)}`])
    assert.equal(parseRetryAfter(odd, now), null);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(Mon|Sun), [ -~]{0,30}$/)), (text) => {
      const wait = parseRetryAfter(text, now);
      assert.ok(wait === null || (wait >= 0 && wait <= dayMs));
    }),
  );
});

test("an endpoint is disabled by 410 and by five days without a success, by nothing else", () => {
  // Checked separately, because the random statuses below rarely contain it.
  assert.equal(disabledBy({ ...refused, statusCode: 410 }, null, now), "endpoint_gone");
  assert.equal(disabledBy(refused, later(now, -disableAfterMs), now), "no_success_for_5_days");
  assert.equal(disabledBy(refused, later(now, 1 - disableAfterMs), now), null);
  const statuses = fc.option(fc.integer({ min: 300, max: 599 }));
  const since = fc.option(fc.integer({ min: 0, max: 2 * disableAfterMs }));
  fc.assert(
    fc.property(statuses, since, (statusCode, failingMs) => {
      const result: AttemptResult = {
        statusCode,
        error: statusCode === null ? "timeout" : errorOfStatus(statusCode),
        retryAfter: null,
      };
      const failingSince = failingMs === null ? null : later(now, -failingMs);
      const reason = disabledBy(result, failingSince, now);
      if (statusCode === 410) assert.equal(reason, "endpoint_gone");
      else
        assert.equal(
          reason,
          failingMs !== null && failingMs >= disableAfterMs ? "no_success_for_5_days" : null,
        );
      assert.equal(disabledBy(ok, failingSince, now), null);
    }),
  );
});

test("a redirect has a separate failure code", () => {
  for (const status of [300, 301, 399]) assert.equal(errorOfStatus(status), "redirect_not_followed");
  for (const status of [199, 400, 404, 500]) assert.equal(errorOfStatus(status), "status_not_2xx");
});

test("all three forms of an HTTP date are read, and nothing that only resembles one", () => {
  for (const date of [
    "Sun, 01 Mar 2026 09:31:00 GMT",
    "Sunday, 01-Mar-26 09:31:00 GMT",
    "Sun Mar  1 09:31:00 2026 GMT",
  ])
    assert.equal(parseRetryAfter(date, now), 60_000, date);
  for (const date of [
    "01 Mar 2026 09:31:00 GMT",
    "2026-03-01T09:31:00Z",
    "x Sun, 01 Mar 2026 09:31:00 GMT",
    "Sun, no date",
    `Sun, 01 Mar 2026 09:31:00 GMT${" (a comment)".repeat(2)}`,
    "12 seconds",
  ])
    assert.equal(parseRetryAfter(date, now), null, date);
});
