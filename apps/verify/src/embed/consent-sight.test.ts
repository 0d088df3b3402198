import assert from "node:assert/strict";
import test from "node:test";
import { afterSight, isSeen } from "./consent-sight.ts";

const unseen = { sinceMs: null, longestMs: 0 };
const seenFrom = (ms: number) => afterSight(unseen, true, ms);

test("consent counts when its button has been in sight for a second without a break, and the heading for half of one at any time", () => {
  const heading = afterSight(seenFrom(0), false, 500);
  assert.equal(isSeen(seenFrom(1_000), heading, 2_000), true);
  assert.equal(isSeen(seenFrom(1_000), heading, 1_999), false, "the button came too late");
  assert.equal(
    isSeen(seenFrom(1_000), afterSight(seenFrom(0), false, 499), 2_000),
    false,
    "a glimpse of the heading",
  );
  assert.equal(isSeen(seenFrom(0), seenFrom(0), 1_000), true, "both are in sight");
  assert.equal(isSeen(afterSight(seenFrom(0), false, 5_000), heading, 5_001), false, "the button is gone");
});

test("a break begins the second anew, a repeated word does not", () => {
  const heading = seenFrom(0);
  const broken = afterSight(afterSight(seenFrom(0), false, 900), true, 950);
  assert.equal(isSeen(broken, heading, 1_900), false);
  assert.equal(isSeen(broken, heading, 1_950), true);
  assert.equal(isSeen(afterSight(seenFrom(0), true, 900), heading, 1_000), true);
});

test("the longest sight of the heading counts, not the last", () => {
  const twice = afterSight(afterSight(afterSight(seenFrom(0), false, 600), true, 700), false, 710);
  assert.equal(isSeen(seenFrom(1_000), twice, 2_000), true);
});
