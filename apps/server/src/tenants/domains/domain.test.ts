import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dayMs, hourMs, later } from "../../platform/kernel/clock.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import {
  afterCheck,
  type DomainState,
  describeFound,
  provesToken,
  recordName,
  recordValue,
} from "./domain.ts";

const now = new Date("2026-03-01T00:00:00Z");

test("exactly three misses in a row downgrade, one find restores, failures change nothing", () => {
  const outcome = fc.constantFrom("found" as const, "missing" as const, "unknown" as const);
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 40 }), (outcomes) => {
      let state: DomainState = { missCount: 0, downgradedAt: null };
      const conclusive: string[] = [];
      for (const result of outcomes) {
        const before = state;
        const after = afterCheck(state, result, now);
        if (result === "unknown")
          assert.deepEqual([after.missCount, after.downgradedAt], [before.missCount, before.downgradedAt]);
        else conclusive.push(result);
        const lastFound = conclusive.lastIndexOf("found");
        assert.equal(after.downgradedAt !== null, conclusive.length - 1 - lastFound >= 3);
        assert.equal(
          after.change === "downgraded",
          before.downgradedAt === null && after.downgradedAt !== null,
        );
        assert.equal(
          after.change === "restored",
          before.downgradedAt !== null && after.downgradedAt === null,
        );
        state = after;
      }
    }),
  );
});

test("only the whole token in the whole form proves", () => {
  const hash = hashToken("abc");
  assert.ok(provesToken(["v=spf1", "service-verification=abc"], hash));
  assert.ok(provesToken([" service-verification=abc "], hash));
  for (const wrong of [
    "abc",
    "service-verification=",
    "service-verification=abcd",
    "Service-verification=abc",
    "x service-verification=abc",
  ])
    assert.ok(!provesToken([wrong], hash), wrong);
});

test("what was found is shown cut and without control characters", () => {
  assert.match(describeFound("_x.example", []), /no TXT record at _x\.example/);
  const shown = describeFound("_x.example", Array(9).fill(`\u001b${"y".repeat(500)}`));
  assert.match(shown, /and 4 more/);
  assert.ok(!shown.includes("\u001b") && shown.length < 800);
});

test("a check is repeated in a day, and in an hour where it came to nothing", () => {
  const state: DomainState = { missCount: 1, downgradedAt: null };
  for (const [outcome, afterMs, concluded] of [
    ["found", dayMs, true],
    ["missing", dayMs, true],
    ["unknown", hourMs, false],
  ] as const) {
    const { nextCheckAt, concluded: isConcluded, change } = afterCheck(state, outcome, now);
    assert.deepEqual([nextCheckAt, isConcluded, change], [later(now, afterMs), concluded, null], outcome);
  }
});

test("a domain that was downgraded keeps the day of it until it is found", () => {
  const state: DomainState = { missCount: 3, downgradedAt: now };
  assert.deepEqual(afterCheck(state, "missing", later(now, dayMs)).downgradedAt, now);
  assert.equal(afterCheck(state, "missing", later(now, dayMs)).missCount, 4);
  const found = afterCheck(state, "found", later(now, dayMs));
  assert.deepEqual([found.missCount, found.downgradedAt, found.change], [0, null, "restored"]);
});

test("the record to publish proves its own token", () => {
  assert.equal(recordName("acme.example"), "_service-verification.acme.example");
  assert.ok(provesToken([recordValue("abc")], hashToken("abc")));
  assert.ok(!provesToken([recordValue("abd")], hashToken("abc")));
});

test("five of the values found are shown, each with a hundred characters", () => {
  const values = ["1", "2", "3", "4", "é\u0000"];
  assert.equal(describeFound("_x", values), 'Found at _x: "1", "2", "3", "4", "??".');
  assert.equal(describeFound("_x", [...values, "6"]), 'Found at _x: "1", "2", "3", "4", "??" and 1 more.');
  assert.equal(describeFound("_x", ["~".repeat(101)]), `Found at _x: "${"~".repeat(100)}".`);
});
