import assert from "node:assert/strict";
import test from "node:test";
import {
  maxInOrderMs,
  maxLinePerSlot,
  maxWaitInFloodMs,
  maxWaitingPerSlot,
  maxWaitMs,
  oldestEvery,
  SlotQueue,
  type Ticket,
} from "./slot-queue.ts";

/**
 * A queue in which each tenant gets an eighth and each address half of the slots, and a record of its calls.
 */
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
      since: 0,
    };
    queue.enter(ticket);
    return { leave: () => queue.leave(ticket) };
  };
  return { clock, queue, started, refused, enter };
}

const names = (count: number) => Array.from({ length: count }, (_, i) => String(i));

test("a line is served in order; that of a flood newest first, once its oldest has waited for long", () => {
  const firstServed = (waiting: number, waitedMs: number) => {
    const { clock, started, enter } = watchedQueue();
    const held = enter("a", "held");
    for (const name of names(waiting)) enter("a", name);
    clock.ms = waitedMs;
    held.leave();
    return started.at(-1);
  };
  assert.equal(firstServed(maxLinePerSlot, maxWaitMs - 1), "0");
  assert.equal(firstServed(maxLinePerSlot + 1, maxInOrderMs - 1), "0");
  assert.equal(firstServed(maxLinePerSlot + 1, maxInOrderMs), String(maxLinePerSlot));
});

test("one in eight requests of a flood is the oldest", () => {
  const { clock, started, enter } = watchedQueue();
  const waiting = names(2 * oldestEvery + maxLinePerSlot);
  const tickets = new Map([
    ["held", enter("a", "held")],
    ...waiting.map((name) => [name, enter("a", name)] as const),
  ]);
  clock.ms = maxInOrderMs;
  for (let i = 0; i < 2 * oldestEvery; i++) tickets.get(started.at(-1) ?? "")?.leave();
  assert.deepEqual([started[oldestEvery], started[2 * oldestEvery]], ["0", "1"]);
});

test("a client with 32 connections loses no request after a stall of the machine", () => {
  const { clock, started, refused, enter } = watchedQueue(32);
  const tickets = new Map<string, { leave(): void }>();
  let entered = 0;
  const send = () => {
    const name = String(entered++);
    tickets.set(name, enter("a", name));
  };
  for (let i = 0; i < 32; i++) send();
  clock.ms = 2 * maxInOrderMs;
  // Each answer takes a millisecond, and the client sends its next request.
  for (let answered = 0; answered < 2 * maxWaitInFloodMs; answered++) {
    clock.ms += 1;
    tickets.get(started[answered] ?? "")?.leave();
    send();
  }
  assert.deepEqual(refused, []);
});

test("a new request of a flood pushes out the oldest that has waited for two seconds, and one of a short line none", () => {
  const { clock, refused, enter } = watchedQueue();
  for (const tenant of ["flood", "quiet"]) enter(tenant);
  for (const name of names(maxLinePerSlot)) enter("flood", name);
  for (const name of names(maxLinePerSlot - 1)) enter("quiet", `quiet ${name}`);
  clock.ms = maxWaitInFloodMs - 1;
  enter("flood");
  assert.deepEqual(refused, []);
  clock.ms += 1;
  enter("quiet");
  enter("flood");
  assert.deepEqual(refused, ["0 waited_too_long"]);
});

test("every other slot that comes free goes to a tenant that does not flood, also where others have none", () => {
  const { started, enter } = watchedQueue(24);
  const held = ["quiet", ...names(11)].map((tenant) => enter(tenant, tenant, "one"));
  for (const flood of ["a", "b", "c", "d"])
    for (let i = 0; i < 4 * maxLinePerSlot; i++) enter(flood, flood, "one");
  for (let i = 0; i < 2; i++) enter("quiet", "quiet", "one");
  for (const at of [1, 2, 3, 4]) held[at]?.leave();
  assert.deepEqual(started.slice(12), ["quiet", "a", "quiet", "b"]);
});

test("a flood has half of its slots while another tenant has a request under way, and all of them afterwards", () => {
  const { started, enter } = watchedQueue(32);
  const flood = names(4 + 4 * maxLinePerSlot + 1).map((name) => enter("flood", name));
  const quiet = enter("quiet");
  enter("flood", "new");
  flood[0]?.leave();
  flood[1]?.leave();
  assert.deepEqual(started, ["0", "1", "2", "3", "quiet"]);
  flood[2]?.leave();
  quiet.leave();
  assert.deepEqual(started.slice(5), ["4", "5", "6"]);
});

test("two tenants that do not flood have all of their slots beside each other", () => {
  const { started, enter } = watchedQueue(32);
  for (const tenant of ["a", "b"]) for (const name of names(4 + 4 * maxLinePerSlot)) enter(tenant, name);
  assert.deepEqual(started, [...names(4), ...names(4)]);
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
