import assert from "node:assert/strict";
import test from "node:test";
import { SlotQueue, type Ticket } from "./slot-queue.ts";

const bounds = { slots: 8, maxWaiting: 500, maxWaitingBytes: 10_000, maxWaitMs: 1000 };

/** A queue of which each caller gets an eighth and each address half, and what happens in it. */
function watchedQueue(slots = bounds.slots) {
  const queue = new SlotQueue({ ...bounds, slots });
  const started: string[] = [];
  const refused: string[] = [];
  const enter = (caller: string, name = caller, { address = caller, bytes = 0 } = {}) => {
    const ticket: Ticket = {
      caller,
      address,
      bytes,
      leave: null,
      start: () => started.push(name),
      refuse: (reason) => refused.push(`${name} ${reason}`),
    };
    queue.enter(ticket);
    return ticket;
  };
  return { queue, started, refused, enter };
}

test("a short line is served in order, and of a long one the newest first", () => {
  const { started, enter } = watchedQueue();
  const held = enter("a", "first");
  enter("a", "second");
  for (let i = 0; i < 101; i++) enter("a", `later ${i}`);
  held.leave?.();
  assert.deepEqual(started, ["first", "later 100"]);
  const short = watchedQueue();
  const before = short.enter("a", "first");
  for (const name of ["second", "third"]) short.enter("a", name);
  before.leave?.();
  assert.deepEqual(short.started, ["first", "second"]);
});

test("callers that wait are served in turn, and one that has nothing under way before them", () => {
  const { started, enter } = watchedQueue(16);
  const address = { address: "one" };
  const held = ["a", "b", "c", "d", "a", "b", "c", "d"].map((caller) => enter(caller, caller, address));
  for (const caller of ["a", "a", "b", "quiet"]) enter(caller, `${caller} again`, address);
  for (const ticket of held.slice(0, 3)) ticket.leave?.();
  assert.deepEqual(started.slice(8), ["quiet again", "a again", "b again"]);
});

test("when too many wait, the oldest of the longest line is refused, and what is too large to wait is refused itself", () => {
  const { queue, refused, enter } = watchedQueue();
  enter("a", "first");
  enter("b", "first");
  enter("b", "quiet");
  for (let i = 0; i < 500; i++) enter("a", `flood ${i}`);
  assert.deepEqual(refused, ["flood 0 queue_full"]);
  enter("a", "large", { bytes: 10_001 });
  assert.deepEqual(refused.slice(1), ["large queue_full"]);
  assert.equal(queue.waiting, 500);
});

test("what has waited for too long is refused, and what left before is not", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { queue, started, refused, enter } = watchedQueue();
  const held = enter("a", "first");
  enter("a", "late");
  enter("a", "gone").leave?.();
  t.mock.timers.tick(bounds.maxWaitMs);
  held.leave?.();
  held.leave?.();
  assert.deepEqual([started, refused], [["first"], ["late waited_too_long"]]);
  assert.deepEqual([queue.taken, queue.waiting], [0, 0]);
});
