import assert from "node:assert/strict";
import test from "node:test";
import { maxInOrderMs, maxWaitingPerSlot, maxWaitMs, SlotQueue, type Ticket } from "./slot-queue.ts";

/** A queue of which each tenant gets an eighth and each address half, and what happens in it. */
function watchedQueue(slots = 8) {
  const clock = { ms: 0 };
  const queue = new SlotQueue(slots, () => clock.ms);
  const started: string[] = [];
  const refused: string[] = [];
  const enter = (tenant: string, name = tenant, address = tenant) => {
    const ticket: Ticket = {
      tenant,
      address,
      start: () => started.push(name),
      refuse: (reason) => refused.push(`${name} ${reason}`),
      held: null,
    };
    queue.enter(ticket);
    return { leave: () => queue.leave(ticket) };
  };
  return { clock, queue, started, refused, enter };
}

test("a line is served in order, and its newest first once its oldest has waited for long", () => {
  const { clock, started, enter } = watchedQueue();
  const held = enter("a", "first");
  for (const name of ["second", "third"]) enter("a", name);
  clock.ms = maxInOrderMs;
  held.leave();
  assert.deepEqual(started, ["first", "second"]);
  const flooded = watchedQueue();
  const before = flooded.enter("a", "first");
  for (const name of ["second", "third"]) flooded.enter("a", name);
  flooded.clock.ms = maxInOrderMs + 1;
  before.leave();
  assert.deepEqual(flooded.started, ["first", "third"]);
});

test("the tenant with the fewest slots is served first, and those with as many in turn", () => {
  const { started, enter } = watchedQueue(16);
  const held = ["a", "b", "c", "d", "a", "b", "c", "d"].map((tenant) => enter(tenant, tenant, "one"));
  for (const tenant of ["a", "a", "b", "b", "c", "quiet"]) enter(tenant, `${tenant} again`, "one");
  for (const at of [0, 1, 2, 4, 5]) held[at]?.leave();
  assert.deepEqual(started.slice(8), ["quiet again", "a again", "b again", "c again", "a again"]);
});

test("a slot that comes free goes to a request that may have it, past those whose tenant or address has its share", () => {
  const { started, enter } = watchedQueue(2);
  const held = enter("a", "a", "one");
  enter("a", "a again", "two");
  enter("b", "b", "one");
  const other = enter("c", "c", "two");
  enter("d", "d", "two");
  other.leave();
  assert.deepEqual(started, ["a", "c", "d"]);
  held.leave();
  assert.equal(started.at(-1), "b");
});

test("when too many wait, the oldest of the longest line is refused", () => {
  const { queue, refused, enter } = watchedQueue();
  enter("a");
  enter("b");
  enter("b", "quiet");
  const maxWaiting = 8 * maxWaitingPerSlot;
  for (let i = 0; i < maxWaiting; i++) enter("a", `flood ${i}`);
  assert.deepEqual(refused, ["flood 0 queue_full"]);
  assert.equal(queue.waiting, maxWaiting);
});

test("what has waited for too long is refused, and what left before is not", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { queue, started, refused, enter } = watchedQueue();
  const held = enter("a", "first");
  enter("a", "late");
  enter("a", "gone").leave();
  t.mock.timers.tick(maxWaitMs);
  held.leave();
  held.leave();
  assert.deepEqual([started, refused], [["first"], ["late waited_too_long"]]);
  assert.deepEqual([queue.taken, queue.waiting], [0, 0]);
});
