import assert from "node:assert/strict";
import test from "node:test";
import { RefusalPace } from "./refusal-pace.ts";

/** How many of so many refusals go out at once. */
function offer(pace: RefusalPace<number>, count: number, now: number): number {
  return Array.from({ length: count }, (_, i) => pace.mayGo(i, now)).filter(Boolean).length;
}

test("a few refusals go out at once, and what is more is held for a second, in order", () => {
  const pace = new RefusalPace<number>();
  assert.equal(offer(pace, 14, 0), 10);
  assert.equal(pace.held, 4);
  assert.deepEqual(pace.takeDue(999), []);
  assert.deepEqual(pace.takeDue(1000), [10, 11, 12, 13]);
  assert.equal(pace.held, 0);
});

test("after each look a few more go out at once", () => {
  const pace = new RefusalPace<number>();
  offer(pace, 100, 0);
  pace.takeDue(25);
  assert.equal(offer(pace, 100, 26), 10);
});

test("those that were held count for the next moment, so that a caller who answers each with a new request is held again", () => {
  const pace = new RefusalPace<number>();
  offer(pace, 40, 0);
  assert.equal(pace.takeDue(1000).length, 30);
  assert.equal(offer(pace, 40, 1001), 0);
});

test("a client that sends again with every answer gets one refusal a second on each connection, beyond those that go out at once", () => {
  const pace = new RefusalPace<number>();
  const connections = 1000;
  let answered = offer(pace, connections, 0);
  let toSend = answered;
  for (let now = 25; now <= 10_000; now += 25) {
    const due = pace.takeDue(now).length;
    const atOnce = offer(pace, toSend + due, now);
    answered += due + atOnce;
    toSend = atOnce;
  }
  assert.ok(answered / 10 <= connections + 400, `${answered / 10} a second`);
});
