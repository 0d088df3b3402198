import assert from "node:assert/strict";
import test from "node:test";
import { afterSight, isSeen } from "./consent-sight.ts";

const unseen = { sinceMs: null, longestMs: 0 };
const seenFrom = (ms: number) => afterSight(unseen, true, ms);

test("consent counts when its button has been in sight for a second without a break, and every other part for half of one at any time", () => {
  const part = afterSight(seenFrom(0), false, 500);
  const glimpse = afterSight(seenFrom(0), false, 499);
  assert.equal(isSeen(seenFrom(1_000), [part, part], 2_000), true);
  assert.equal(isSeen(seenFrom(1_000), [part], 1_999), false, "the button came too late");
  assert.equal(isSeen(seenFrom(1_000), [part, glimpse], 2_000), false, "a glimpse of one part");
  assert.equal(isSeen(seenFrom(1_000), [part, unseen], 2_000), false, "one part was never shown");
  assert.equal(isSeen(seenFrom(1_000), [], 2_000), false, "there is nothing but the button");
  assert.equal(isSeen(seenFrom(0), [seenFrom(0)], 1_000), true, "all are in sight");
  assert.equal(isSeen(afterSight(seenFrom(0), false, 5_000), [part], 5_001), false, "the button is gone");
});

test("a break begins the second anew, a repeated word does not", () => {
  const part = seenFrom(0);
  const broken = afterSight(afterSight(seenFrom(0), false, 900), true, 950);
  assert.equal(isSeen(broken, [part], 1_900), false);
  assert.equal(isSeen(broken, [part], 1_950), true);
  assert.equal(isSeen(afterSight(seenFrom(0), true, 900), [part], 1_000), true);
});

test("the longest sight of a part counts, not the last", () => {
  const twice = afterSight(afterSight(afterSight(seenFrom(0), false, 600), true, 700), false, 710);
  assert.equal(isSeen(seenFrom(1_000), [twice], 2_000), true);
});
