import assert from "node:assert/strict";
import test from "node:test";
import { FairQueue, type Ticket } from "./fair-queue.ts";

const maxWaitMs = 500;

function queueOf(limit: number, maxWaiting = 1000, most = 256) {
  return new FairQueue<string>(limit, { maxWaiting, maxWaitMs, most });
}

function enter(queue: FairQueue<string>, lane: string, item = lane, now = 0): Ticket<string> {
  const ticket = queue.enter(lane, lane.startsWith("person"), item, now);
  if (typeof ticket === "string") throw new Error(`${item} was refused: ${ticket}`);
  return ticket;
}

/** Whoever gets a place as these are given back, in order. */
function served(queue: FairQueue<string>, given: Iterable<Ticket<string>>, now = 0): string[] {
  const order: string[] = [];
  for (const ticket of given) {
    queue.giveBack(ticket);
    for (let next = queue.takeNext(now); next !== null; next = queue.takeNext(now)) order.push(next.item);
  }
  return order;
}

test("a caller alone gets two thirds of the places, and another one finds a place free", () => {
  const queue = queueOf(8);
  const flood = Array.from({ length: 20 }, (_, i) => enter(queue, "flood", `flood ${i}`));
  assert.equal(flood.filter(({ state }) => state === "placed").length, 6);
  enter(queue, "quiet");
  assert.equal(queue.takeNext(0)?.item, "quiet");
});

test("while others are about a caller gets a quarter of the places, and two thirds again when they have left", () => {
  const queue = queueOf(12);
  queue.giveBack(enter(queue, "quiet"));
  const flood = Array.from({ length: 20 }, (_, i) => enter(queue, "flood", `flood ${i}`, 1));
  const placedOf = (tickets: readonly Ticket<string>[]) =>
    tickets.filter(({ state }) => state === "placed").length;
  assert.equal(placedOf(flood), 3);
  assert.equal(queue.takeNext(999), null);
  while (queue.takeNext(1000) !== null);
  assert.equal(placedOf(flood), 8);
  // As soon as somebody is there again, those that end make room.
  enter(queue, "quiet", "quiet", 1500);
  assert.deepEqual(served(queue, flood.slice(0, 6), 1500), ["quiet", "flood 8"]);
});

test("many callers who send all the time share all of the places", () => {
  const queue = queueOf(12);
  const tickets = Array.from({ length: 60 }, (_, i) => enter(queue, `lane ${i % 12}`));
  while (queue.takeNext(0) !== null);
  assert.equal(tickets.filter(({ state }) => state === "placed").length, 12);
});

test("whoever begins to wait is served before the queue of a caller who floods", () => {
  const queue = queueOf(4);
  const flood = Array.from({ length: 40 }, (_, i) => enter(queue, "flood", `flood ${i}`));
  enter(queue, "other");
  assert.equal(queue.takeNext(0)?.item, "other");
  enter(queue, "quiet");
  assert.equal(queue.takeNext(0), null);
  assert.deepEqual(served(queue, flood.slice(0, 1)), ["quiet"]);
});

test("a person in a verification is served before a partner who came at the same time", () => {
  const queue = queueOf(2);
  const holders = [enter(queue, "a"), enter(queue, "b")];
  enter(queue, "partner");
  enter(queue, "person");
  assert.deepEqual(served(queue, holders), ["person", "partner"]);
});

test("whoever waits for the outside lends the place, and goes on when it is back", () => {
  const queue = queueOf(2);
  const [first, second] = [enter(queue, "a"), enter(queue, "b")];
  const waiting = enter(queue, "c");
  queue.lend(first);
  assert.equal(queue.takeNext(0)?.item, "c");
  queue.takeBack(first);
  assert.equal(queue.placed, 3);
  enter(queue, "d");
  assert.deepEqual(served(queue, [first]), [], "one more than the limit was under way");
  assert.deepEqual(served(queue, [second, waiting]), ["d"]);
});

test("places that are lent count against the most that may be under way, and for each caller", () => {
  const queue = queueOf(4, 1000, 8);
  const lent: Ticket<string>[] = [];
  for (let i = 0; i < 20; i++) {
    const ticket = enter(queue, "flood", `flood ${i}`);
    if (ticket.state !== "placed") break;
    queue.lend(ticket);
    lent.push(ticket);
  }
  assert.equal(lent.length, 6);
  assert.equal(queue.placed, 0);
  enter(queue, "quiet");
  assert.equal(queue.takeNext(0)?.item, "quiet");
  assert.equal(queue.takeNext(0), null);
  for (const ticket of lent) queue.giveBack(ticket);
  assert.equal(queue.takeNext(0)?.item, "flood 6");
});

test("a place that was given back while it was lent is not taken back", () => {
  const queue = queueOf(2);
  const gone = enter(queue, "a");
  queue.lend(gone);
  queue.giveBack(gone);
  queue.takeBack(gone);
  assert.equal(queue.placed, 0);
  assert.equal(queue.lanes, 0);
});

test("callers in line are served in turn, and each one's requests in their order", () => {
  const queue = queueOf(1);
  const holder = enter(queue, "holder");
  for (const lane of ["a", "b", "c"]) for (let i = 0; i < 3; i++) enter(queue, lane, `${lane}${i}`);
  const order: string[] = [];
  let current: Ticket<string> | null = holder;
  while (current !== null) {
    queue.giveBack(current);
    current = queue.takeNext(0);
    if (current !== null) order.push(current.item);
  }
  assert.deepEqual(order, ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]);
});

test("newcomers without end do not keep a caller in line waiting for more than four places", () => {
  const queue = queueOf(1);
  let current: Ticket<string> | null = enter(queue, "line", "first");
  for (let i = 0; i < 5; i++) enter(queue, "line", `line ${i}`);
  const order: string[] = [];
  for (let i = 0; current !== null && i < 100; i++) {
    for (let j = 0; j < 3; j++) enter(queue, `person ${i} ${j}`);
    queue.giveBack(current);
    current = queue.takeNext(0);
    order.push(current?.item ?? "");
  }
  const turns = order.flatMap((item, at) => (item.startsWith("line") ? [at] : []));
  assert.equal(turns.length, 5);
  for (const [i, at] of turns.entries()) assert.ok(at - (turns[i - 1] ?? -1) <= 4);
});

test("a caller fills at most half of the queue, and the other half stays for others", () => {
  const queue = queueOf(1, 10);
  enter(queue, "flood");
  for (let i = 0; i < 5; i++) enter(queue, "flood", `flood ${i}`);
  assert.equal(queue.enter("flood", false, "one more", 0), "queue_full");
  enter(queue, "quiet");
  assert.equal(queue.waiting, 6);
});

test("nobody waits for longer than the longest wait", () => {
  const queue = queueOf(1);
  enter(queue, "a");
  enter(queue, "a", "early", 0);
  enter(queue, "b", "later", 200);
  assert.deepEqual(queue.takeLate(maxWaitMs - 1), []);
  assert.deepEqual(
    queue.takeLate(maxWaitMs).map(({ item }) => item),
    ["early"],
  );
  assert.equal(queue.waiting, 1);
});

test("a burst may wait as long as anybody may; a line that never ends is kept to half of that", () => {
  const queue = queueOf(1);
  let current = enter(queue, "flood");
  for (let i = 0; i < 400; i++) enter(queue, "flood", "burst", 0);
  // One is served in each millisecond and two come, for as long as it takes to be no burst any more.
  const waits: number[] = [];
  let refused = 0;
  for (let now = 1; now < 10 * maxWaitMs; now++) {
    assert.deepEqual(queue.takeLate(now), [], "who is let in is served in time");
    for (let i = 0; i < 2; i++) if (queue.enter("flood", false, "more", now) === "queue_slow") refused += 1;
    queue.giveBack(current);
    const next = queue.takeNext(now);
    assert.ok(next);
    current = next;
    if (now > 5 * maxWaitMs) waits.push(now - next.since);
  }
  assert.ok(refused > 4000, `${refused} were refused`);
  assert.ok(Math.max(...waits) <= 0.5 * maxWaitMs + 10, `the longest wait was ${Math.max(...waits)} ms`);
  assert.ok(Math.min(...waits) > 0.4 * maxWaitMs, "and the queue does not run dry");
});

test("a client that sends on each of 32 connections when it has its answer is never refused for slowness", () => {
  const queue = queueOf(1);
  let current = enter(queue, "client");
  for (let i = 1; i < 32; i++) enter(queue, "client");
  for (let now = 0; now < 20 * maxWaitMs; now += 14) {
    queue.giveBack(current);
    const next = queue.takeNext(now);
    assert.ok(next);
    current = next;
    enter(queue, "client", "again", now);
    assert.deepEqual(queue.takeLate(now), []);
  }
});

test("whoever gives up while waiting is not served, and giving back twice frees one place only", () => {
  const queue = queueOf(1);
  const holder = enter(queue, "holder");
  const gone = enter(queue, "a", "gone");
  enter(queue, "b", "stays");
  queue.giveBack(gone);
  queue.giveBack(gone);
  assert.deepEqual(served(queue, [holder, holder]), ["stays"]);
  assert.equal(queue.placed, 1);
  assert.equal(queue.takeNext(0), null);
});

/** A sequence of numbers from 0 to 1 that is the same in each run (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

for (let seed = 1; seed <= 40; seed++) {
  test(`whatever happens, no place is lost, none is given twice and none stays free for nothing (${seed})`, () => {
    const random = randomOf(seed);
    const pick = (count: number) => Math.floor(random() * count);
    const limit = 1 + pick(20);
    const maxWaiting = 5 + pick(60);
    const queue = queueOf(limit, maxWaiting);
    const placed = new Set<Ticket<string>>();
    const waiting = new Set<Ticket<string>>();
    const seenAt = new Map<string, number>();
    let now = 0;
    const settle = () => {
      for (let next = queue.takeNext(now); next !== null; next = queue.takeNext(now)) {
        assert.ok(waiting.delete(next), "only who waits is given a place");
        placed.add(next);
      }
    };
    for (let step = 0; step < 2000; step++) {
      now += random() < 0.01 ? 1000 : pick(30);
      const action = random();
      if (action < 0.55) {
        const name = `lane ${pick(6)}`;
        seenAt.set(name, now);
        const entered = queue.enter(name, random() < 0.3, "", now);
        if (typeof entered !== "string") (entered.state === "placed" ? placed : waiting).add(entered);
      } else if (action < 0.9) {
        // An answer, an error, a client that is gone: all of them give back, some of them twice.
        const some = [...placed, ...waiting][pick(placed.size + waiting.size)];
        if (some !== undefined) {
          queue.giveBack(some);
          if (random() < 0.2) queue.giveBack(some);
          placed.delete(some);
          waiting.delete(some);
        }
      } else if (action < 0.95) {
        for (const late of queue.takeLate(now)) {
          assert.ok(now - late.since >= maxWaitMs);
          assert.ok(waiting.delete(late));
        }
        for (const ticket of waiting) assert.ok(now - ticket.since < maxWaitMs);
      } else {
        queue.limit = 1 + pick(20);
      }
      settle();
      assert.equal(queue.placed, placed.size);
      assert.equal(queue.waiting, waiting.size);
      assert.ok(waiting.size <= maxWaiting);
      const free = queue.limit - placed.size;
      // Work conservation: who is below its share waits only while all places are taken.
      for (const { lane } of free > 0 ? waiting : []) {
        const others = [...seenAt].filter(([name, at]) => name !== lane.name && now - at < 1000);
        assert.ok(lane.placed >= (others.length === 0 ? 2 : 1 / 3) * free);
      }
    }
    for (const ticket of [...placed, ...waiting]) queue.giveBack(ticket);
    assert.deepEqual([queue.placed, queue.waiting, queue.lanes], [0, 0, 0]);
  });
}

test("a caller who keeps to its share is served, however many flood and however much they send", () => {
  const random = randomOf(7);
  const queue = queueOf(8);
  const placed: Ticket<string>[] = [];
  const waits: number[] = [];
  let refused = 0;
  for (let now = 0; now < 20_000; now++) {
    for (let i = 0; i < 12; i++) {
      const entered = queue.enter(`flood ${i % 3}`, false, "flood", now);
      if (typeof entered !== "string" && entered.state === "placed") placed.push(entered);
    }
    if (now % 50 === 0) {
      const entered = queue.enter("quiet", false, "quiet", now);
      if (typeof entered === "string") refused += 1;
      else if (entered.state === "placed") {
        placed.push(entered);
        waits.push(0);
      }
    }
    queue.takeLate(now);
    // Two requests end in each millisecond, so six times as much is offered as can be served.
    for (let i = 0; i < 2; i++) {
      const [done] = placed.splice(Math.floor(random() * placed.length), 1);
      if (done !== undefined) queue.giveBack(done);
    }
    for (let next = queue.takeNext(now); next !== null; next = queue.takeNext(now)) {
      placed.push(next);
      if (next.item === "quiet") waits.push(now - next.since);
    }
  }
  assert.equal(refused, 0);
  assert.equal(waits.length, 400);
  assert.ok(Math.max(...waits) <= 2, `the quiet caller waited for ${Math.max(...waits)} ms`);
});
