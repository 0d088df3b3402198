import assert from "node:assert/strict";
import test from "node:test";
import type { EndpointId } from "@assay/contract/ids";
import fc from "fast-check";
import { knownId } from "../../platform/kernel/ids.ts";
import { Lanes, type LaneTicket, limitsFor, limitsForListeners } from "./lanes.ts";

const limits = { maxYoung: 8, maxYoungUnproven: 3, maxSlow: 12, maxPerEndpoint: 4 };

const named = (name: string) => knownId<EndpointId>(name);

/** Both kinds, prompt ones first. */
function pick(lanes: Lanes, most: number): { endpointId: EndpointId; most: number }[] {
  const first = lanes.pick(true, most);
  const left = most - first.reduce((sum, picked) => sum + picked.most, 0);
  return [...first, ...lanes.pick(false, left)];
}

/** Lets one delivery of an endpoint begin. */
function begin(lanes: Lanes, endpointId: EndpointId): LaneTicket | undefined {
  lanes.ready(endpointId, false);
  let found: LaneTicket | undefined;
  for (const { endpointId: id, most } of pick(lanes, 64)) {
    const tickets = lanes.claimed(id, most, id === endpointId ? Math.min(most, 1) : 0);
    found ??= tickets[0];
  }
  return found;
}

function prove(lanes: Lanes, endpointId: EndpointId): void {
  const ticket = begin(lanes, endpointId);
  assert.ok(ticket);
  lanes.finished(ticket, true);
}

test("an endpoint that answers always finds room beside any number that hang", () => {
  const lanes = new Lanes(limitsFor(1024));
  prove(lanes, named("live"));
  const hanging: LaneTicket[] = [];
  // Ten thousand endpoints of unknown speed, each with something due.
  for (let i = 0; i < 10_000; i++) lanes.ready(named(`dead-${i}`), false);
  for (let second = 0; second < 30; second++) {
    for (let picked = pick(lanes, 64); picked.length > 0; picked = pick(lanes, 64))
      for (const { endpointId, most } of picked)
        hanging.push(...lanes.claimed(endpointId, most, endpointId === "live" ? 0 : most));
    const ticket = begin(lanes, named("live"));
    assert.ok(ticket, `the live endpoint was kept waiting in second ${second}`);
    lanes.finished(ticket, true);
    for (const stuck of hanging) lanes.slowed(stuck);
  }
  assert.ok(hanging.length > 700 && hanging.length <= 1024, `${hanging.length} attempts hang`);
  assert.equal(lanes.inFlight, hanging.length);
});

test("an endpoint that is new goes before those that have failed", () => {
  const lanes = new Lanes(limits);
  for (let i = 0; i < 50; i++) lanes.ready(named(`failed-${i}`), true);
  lanes.ready(named("new"), false);
  assert.equal(pick(lanes, 1)[0]?.endpointId, "new");
});

test("room grows with success and falls with failure", () => {
  const lanes = new Lanes(limits);
  const roomOf = () => {
    lanes.ready(named("e"), false);
    const [picked] = pick(lanes, 64);
    const tickets = lanes.claimed(named("e"), picked?.most ?? 0, picked?.most ?? 0);
    for (const ticket of tickets) lanes.finished(ticket, true);
    return picked?.most;
  };
  assert.deepEqual([roomOf(), roomOf(), roomOf(), roomOf()], [1, 2, 4, 4]);
  const ticket = begin(lanes, named("e"));
  assert.ok(ticket);
  lanes.slowed(ticket);
  lanes.finished(ticket, false);
  assert.equal(lanes.speedOf(named("e")), "hanging");
  assert.equal(roomOf(), 1);
});

test("what became due while a claim was under way is looked for again", () => {
  const lanes = new Lanes(limits);
  lanes.ready(named("e"), false);
  const [picked] = pick(lanes, 64);
  assert.ok(picked);
  lanes.ready(named("e"), false);
  lanes.claimed(named("e"), picked.most, 0);
  assert.equal(pick(lanes, 64)[0]?.endpointId, "e");
});

test("a claim that found nothing is not repeated until something becomes due", () => {
  const lanes = new Lanes(limits);
  lanes.ready(named("empty"), false);
  assert.deepEqual(pick(lanes, 1), [{ endpointId: "empty", most: 1 }]);
  lanes.claimed(named("empty"), 1, 0);
  assert.deepEqual([pick(lanes, 1), lanes.readyCount], [[], 0]);
});

test("bounds hold and every count returns to nothing, whatever happens in whatever order", () => {
  const step = fc.record({
    kind: fc.constantFrom("ready", "pick", "claim", "slow", "finish"),
    endpoint: fc.integer({ min: 0, max: 20 }),
    index: fc.nat(1000),
    flag: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const lanes = new Lanes(limits);
      const claims: { endpointId: EndpointId; most: number }[] = [];
      const tickets: LaneTicket[] = [];
      for (const { kind, endpoint, index, flag } of steps) {
        if (kind === "ready") lanes.ready(named(`e${endpoint}`), flag);
        else if (kind === "pick") claims.push(...lanes.pick(flag, 6));
        else if (kind === "claim") {
          const claim = claims.shift();
          if (claim)
            tickets.push(
              ...lanes.claimed(claim.endpointId, claim.most, flag ? claim.most : index % (claim.most + 1)),
            );
        } else if (kind === "slow") {
          const ticket = tickets[index % Math.max(1, tickets.length)];
          if (ticket) lanes.slowed(ticket);
        } else {
          const [ticket] = tickets.splice(index % Math.max(1, tickets.length), 1);
          if (ticket) lanes.finished(ticket, flag);
        }
        const perEndpoint = Map.groupBy(tickets, (ticket) => ticket.endpointId);
        for (const of of perEndpoint.values()) assert.ok(of.length <= limits.maxPerEndpoint);
        const young = tickets.filter((ticket) => !ticket.slow).length;
        assert.ok(young <= limits.maxYoung);
        // Proven endpoints that began to hang may exceed the slow slots, but only by few.
        assert.ok(tickets.filter((ticket) => ticket.slow && !ticket.proven).length <= limits.maxSlow);
      }
      for (const claim of claims) lanes.claimed(claim.endpointId, claim.most, 0);
      for (const ticket of tickets) lanes.finished(ticket, true);
      assert.equal(lanes.inFlight, 0);
      assert.equal(lanes.slow, 0);
      // Nothing leaked: all slots are free again.
      for (let i = 0; i < 40; i++) lanes.ready(named(`after-${i}`), false);
      const proven = new Set<string>();
      for (let i = 0; i <= 20; i++) if (lanes.speedOf(named(`e${i}`)) === "prompt") proven.add(`e${i}`);
      const picked = pick(lanes, 64);
      const sum = (ofProven: boolean) =>
        picked
          .filter(({ endpointId }) => proven.has(endpointId) === ofProven)
          .reduce((total, { most }) => total + most, 0);
      assert.equal(sum(false), Math.min(limits.maxYoungUnproven, limits.maxYoung - sum(true)));
    }),
  );
});

test("a quarter of the room is for young attempts, three eighths of that for endpoints that have proven nothing", () => {
  assert.deepEqual(limitsFor(1024), {
    maxYoung: 256,
    maxYoungUnproven: 96,
    maxSlow: 768,
    maxPerEndpoint: 64,
  });
  assert.deepEqual(limitsFor(1), { maxYoung: 4, maxYoungUnproven: 2, maxSlow: 4, maxPerEndpoint: 64 });
  assert.deepEqual(limitsForListeners(1024), { ...limitsFor(1024), maxPerEndpoint: 8 });
});

/** Takes all that may begin for the endpoint, and begins it. */
function takeAll(lanes: Lanes, name: string): LaneTicket[] {
  lanes.ready(named(name), false);
  return pick(lanes, 64).flatMap(({ endpointId, most }) => lanes.claimed(endpointId, most, most));
}

test("of the slow places failing endpoints leave a quarter to those of which nothing is known", () => {
  const lanes = new Lanes({ ...limits, maxYoung: 100, maxYoungUnproven: 50 });
  for (let i = 0; i < 20; i++) lanes.ready(named(`failed-${i}`), true);
  assert.equal(pick(lanes, 64).length, 9, "three quarters of twelve");
  for (let i = 0; i < 20; i++) lanes.ready(named(`new-${i}`), false);
  assert.equal(pick(lanes, 64).length, 3);
});

test("a slow place is one less for what begins, and is free again when its attempt ends", () => {
  const lanes = new Lanes({ ...limits, maxSlow: 2 });
  const [first, second] = [takeAll(lanes, "a"), takeAll(lanes, "b")].flat();
  assert.ok(first && second);
  lanes.slowed(first);
  lanes.slowed(first);
  assert.deepEqual([lanes.slow, lanes.inFlight], [1, 2], "slowed once");
  assert.equal(takeAll(lanes, "c").length, 0, "one is slow and one may come to be");
  lanes.finished(first, false);
  assert.equal(lanes.slow, 0);
  assert.equal(takeAll(lanes, "d").length, 1);
  assert.equal(second.slow, false);
});

test("an endpoint's attempts decide its speed and how many may be in flight", () => {
  const lanes = new Lanes({
    ...limits,
    maxYoung: 400,
    maxYoungUnproven: 300,
    maxSlow: 300,
    maxPerEndpoint: 64,
  });
  const name = named("e");
  const end = (tickets: readonly LaneTicket[], succeeded: boolean, isSlow: boolean) => {
    if (isSlow) for (const ticket of tickets) lanes.slowed(ticket);
    for (const ticket of tickets) lanes.finished(ticket, succeeded);
    return lanes.speedOf(name);
  };
  assert.equal(end(takeAll(lanes, "e"), true, false), "prompt");
  assert.equal(end(takeAll(lanes, "e"), true, false), "prompt");
  // Two successes at once double it twice.
  const eight = takeAll(lanes, "e");
  assert.equal(eight.length, 8);
  for (const ticket of eight.slice(1)) lanes.finished(ticket, true);
  const [last] = eight;
  assert.ok(last);
  // A quarter of 64 is left when a prompt one becomes slow, and a slow success adds one, up to sixteen.
  lanes.slowed(last);
  assert.equal(lanes.speedOf(name), "sluggish");
  assert.equal(takeAll(lanes, "e").length, 15);
});

test("a failure halves what may be under way and never ends it; a slow one leaves one", () => {
  const grown = () => {
    const lanes = new Lanes({
      ...limits,
      maxYoung: 100,
      maxYoungUnproven: 100,
      maxSlow: 100,
      maxPerEndpoint: 8,
    });
    for (let time = 0; time < 3; time++)
      for (const ticket of takeAll(lanes, "e")) lanes.finished(ticket, true);
    const tickets = takeAll(lanes, "e");
    assert.equal(tickets.length, 8);
    return { lanes, tickets };
  };
  const quick = grown();
  const [one, ...others] = quick.tickets;
  assert.ok(one);
  quick.lanes.finished(one, false);
  assert.equal(quick.lanes.speedOf(named("e")), "failing");
  for (const ticket of others) quick.lanes.finished(ticket, false);
  assert.equal(takeAll(quick.lanes, "e").length, 1);
  const slow = grown();
  for (const ticket of slow.tickets.slice(1)) slow.lanes.finished(ticket, true);
  const [hung] = slow.tickets;
  assert.ok(hung);
  slow.lanes.slowed(hung);
  slow.lanes.finished(hung, false);
  assert.equal(slow.lanes.speedOf(named("e")), "hanging");
  assert.equal(takeAll(slow.lanes, "e").length, 1);
});

test("an endpoint that is busy is offered again when half of its room is free", () => {
  const lanes = new Lanes({ ...limits, maxYoung: 100, maxPerEndpoint: 4 });
  for (let time = 0; time < 2; time++) for (const ticket of takeAll(lanes, "e")) lanes.finished(ticket, true);
  const [first, second] = takeAll(lanes, "e");
  assert.ok(first && second);
  lanes.finished(first, true);
  assert.equal(lanes.readyCount, 0);
  lanes.finished(second, true);
  assert.equal(lanes.readyCount, 1);
});

test("an endpoint that waits keeps its turn when an attempt of its own ends as the ones before", () => {
  const lanes = new Lanes({ ...limits, maxYoung: 100 });
  for (const name of ["a", "b"]) proven(lanes, name, 4);
  lanes.ready(named("a"), false);
  assert.deepEqual(lanes.pick(true, 1), [{ endpointId: "a", most: 1 }]);
  const [ticket] = lanes.claimed(named("a"), 1, 1);
  assert.ok(ticket);
  lanes.ready(named("b"), false);
  lanes.finished(ticket, true);
  assert.equal(lanes.pick(true, 1)[0]?.endpointId, "a");
});

test("an endpoint is forgotten when nothing is under way, nothing waits and nothing happened since", () => {
  const lanes = new Lanes(limits);
  const [ticket] = takeAll(lanes, "e");
  assert.ok(ticket);
  const later = performance.now() + 1000;
  lanes.forgetIdle(later);
  assert.ok(lanes.speedOf(named("e")), "an attempt is under way");
  lanes.finished(ticket, true);
  lanes.forgetIdle(later);
  assert.ok(lanes.speedOf(named("e")), "more may be due");
  for (const { endpointId, most } of pick(lanes, 64)) {
    lanes.forgetIdle(later);
    assert.ok(lanes.speedOf(named("e")), "a claim is under way");
    lanes.claimed(endpointId, most, 0);
  }
  lanes.forgetIdle(0);
  assert.ok(lanes.speedOf(named("e")), "something happened since");
  lanes.forgetIdle(later);
  assert.equal(lanes.speedOf(named("e")), undefined);
  lanes.finished(ticket, true);
  assert.deepEqual(lanes.claimed(named("e"), 0, 0), [], "one that is forgotten gets no tickets");
});

/** An endpoint that answered promptly until it may have `limit` attempts in flight. */
function proven(lanes: Lanes, name: string, limit: number): void {
  while (limit > 1) {
    for (const ticket of takeAll(lanes, name)) lanes.finished(ticket, true);
    limit /= 2;
  }
  for (const { endpointId, most } of pick(lanes, 64)) lanes.claimed(endpointId, most, 0);
}

const roomy = { maxYoung: 100, maxYoungUnproven: 50, maxSlow: 100, maxPerEndpoint: 64 };

test("a pick is of no more deliveries than were asked for, and of none for an endpoint whose room is taken", () => {
  const lanes = new Lanes(limits);
  for (const name of ["a", "b", "c"]) lanes.ready(named(name), false);
  assert.deepEqual(
    lanes.pick(false, 2).map(({ endpointId, most }) => [endpointId, most]),
    [
      ["a", 1],
      ["b", 1],
    ],
  );
  lanes.ready(named("a"), false);
  assert.deepEqual(
    lanes.pick(false, 2).map(({ endpointId }) => endpointId),
    ["c"],
    "a claim is under way for the one place of the first",
  );
  const wide = new Lanes({ ...roomy, maxPerEndpoint: 4 });
  proven(wide, "e", 4);
  wide.ready(named("e"), false);
  assert.deepEqual(wide.pick(true, 3), [{ endpointId: "e", most: 3 }]);
  assert.deepEqual(wide.pick(true, 3), []);
  wide.claimed(named("e"), 3, 1);
  wide.ready(named("e"), false);
  assert.deepEqual(wide.pick(true, 64), [{ endpointId: "e", most: 3 }]);
});

test("an attempt that becomes slow takes no slot of the unproven if its endpoint was proven", () => {
  const lanes = new Lanes({ ...roomy, maxYoungUnproven: 1 });
  proven(lanes, "e", 2);
  for (const ticket of takeAll(lanes, "e")) {
    lanes.slowed(ticket);
    lanes.finished(ticket, true);
  }
  for (const name of ["a", "b"]) lanes.ready(named(name), false);
  const begun = lanes.pick(false, 64).filter(({ endpointId }) => endpointId !== "e");
  assert.equal(begun.length + lanes.pick(false, 64).length, 1);
});

test("only an endpoint that was prompt or new loses its speed by one slow attempt; others keep theirs", () => {
  const lanes = new Lanes(roomy);
  const [fresh] = takeAll(lanes, "fresh");
  assert.ok(fresh);
  lanes.slowed(fresh);
  assert.equal(lanes.speedOf(named("fresh")), "sluggish");
  lanes.ready(named("failed"), true);
  const [failed] = takeAll(lanes, "failed");
  assert.ok(failed);
  lanes.slowed(failed);
  assert.equal(lanes.speedOf(named("failed")), "hanging");
  lanes.finished(failed, true);
  assert.equal(lanes.speedOf(named("failed")), "sluggish");
  assert.equal(takeAll(lanes, "failed").length, 2, "a slow success makes room for one more");
});

test("slow successes make room up to sixteen, or up to what an endpoint may have", () => {
  for (const [maxPerEndpoint, most] of [
    [64, 16],
    [4, 4],
  ] as const) {
    const lanes = new Lanes({ ...roomy, maxPerEndpoint });
    for (let time = 0; time < 6; time++)
      for (const ticket of takeAll(lanes, "e")) {
        lanes.slowed(ticket);
        lanes.finished(ticket, true);
      }
    assert.equal(takeAll(lanes, "e").length, most);
  }
});

test("an endpoint that waits is found among those of its new speed", () => {
  const lanes = new Lanes(roomy);
  proven(lanes, "e", 4);
  const [first] = takeAll(lanes, "e");
  assert.ok(first);
  lanes.ready(named("e"), false);
  lanes.finished(first, false);
  assert.equal(lanes.speedOf(named("e")), "failing");
  assert.deepEqual(lanes.pick(true, 64), []);
});

test("a claim that is under way while the speed changes gives back its places where they count now", () => {
  const lanes = new Lanes({ ...roomy, maxYoungUnproven: 4 });
  proven(lanes, "e", 4);
  lanes.ready(named("e"), false);
  const [claim] = lanes.pick(true, 2);
  assert.ok(claim);
  const [one, two] = lanes.claimed(claim.endpointId, 2, 2);
  assert.ok(one && two);
  const [open] = lanes.pick(true, 2);
  assert.equal(open?.most, 2);
  lanes.finished(one, false);
  assert.equal(lanes.speedOf(named("e")), "failing");
  for (let i = 0; i < 6; i++) lanes.ready(named(`new-${i}`), false);
  const others = lanes.pick(false, 64).filter(({ endpointId }) => endpointId !== "e");
  assert.equal(others.length, 2, "the two of the claim count as unproven");
  lanes.claimed(named("e"), 2, 0);
  assert.equal(lanes.pick(false, 64).filter(({ endpointId }) => endpointId !== "e").length, 2);
  assert.equal(two.proven, true);
});

test("an endpoint with an attempt under way is not forgotten, also when nothing more is due for it", () => {
  const lanes = new Lanes(roomy);
  proven(lanes, "e", 2);
  lanes.ready(named("e"), false);
  const [claim] = lanes.pick(true, 2);
  assert.equal(claim?.most, 2);
  const [ticket] = lanes.claimed(named("e"), 2, 1);
  assert.ok(ticket);
  lanes.forgetIdle(performance.now() + 1000);
  assert.ok(lanes.speedOf(named("e")));
});

/** One delivery of a waiting endpoint begins. */
function beginOne(lanes: Lanes, name: string, isProven: boolean): LaneTicket {
  lanes.ready(named(name), false);
  assert.deepEqual(lanes.pick(isProven, 1), [{ endpointId: name, most: 1 }]);
  const [ticket] = lanes.claimed(named(name), 1, 1);
  assert.ok(ticket);
  return ticket;
}

test("a claim that is under way while its endpoint changes its speed gives back all of its slots", () => {
  const changes: [from: "prompt" | "failing", end: (lanes: Lanes, ticket: LaneTicket) => void, to: string][] =
    [
      ["prompt", (lanes, ticket) => lanes.finished(ticket, false), "failing"],
      ["prompt", (lanes, ticket) => lanes.slowed(ticket), "sluggish"],
      ["failing", (lanes, ticket) => lanes.finished(ticket, true), "prompt"],
      ["failing", (lanes, ticket) => lanes.finished(ticket, false), "failing"],
      [
        "failing",
        (lanes, ticket) => {
          lanes.slowed(ticket);
          lanes.finished(ticket, false);
        },
        "hanging",
      ],
    ];
  for (const [from, end, to] of changes) {
    const lanes = new Lanes({ ...limits, maxYoungUnproven: 6 });
    proven(lanes, "e", 4);
    if (from === "failing") lanes.finished(beginOne(lanes, "e", true), false);
    assert.equal(lanes.speedOf(named("e")), from);
    const ticket = beginOne(lanes, "e", from === "prompt");
    lanes.ready(named("e"), false);
    assert.deepEqual(lanes.pick(from === "prompt", 1), [{ endpointId: "e", most: 1 }]);
    end(lanes, ticket);
    assert.equal(lanes.speedOf(named("e")), to);
    lanes.claimed(named("e"), 1, 0);
    if (to === "sluggish") lanes.finished(ticket, true);
    for (const { endpointId, most } of pick(lanes, 64)) lanes.claimed(endpointId, most, 0);
    assert.deepEqual([lanes.inFlight, lanes.readyCount], [0, 0], `${from} to ${to}`);
    for (let i = 0; i < 10; i++) lanes.ready(named(`new-${i}`), false);
    assert.equal(lanes.pick(false, 64).length, 6, `${from} to ${to}`);
  }
});

test("claims and attempts together stay within the limit of the endpoint", () => {
  const open = () => {
    const lanes = new Lanes({ ...limits, maxYoung: 100 });
    proven(lanes, "e", 4);
    lanes.ready(named("e"), false);
    return lanes;
  };
  const few = open();
  few.pick(true, 1);
  few.ready(named("e"), false);
  assert.deepEqual(few.pick(true, 64), [{ endpointId: "e", most: 3 }]);
  const most = open();
  most.pick(true, 3);
  most.ready(named("e"), false);
  assert.equal(most.readyCount, 0, "less than half of its limit is free");
});

test("an endpoint whose limit fell to what is in flight, or below it, begins nothing", () => {
  for (const inFlight of [1, 2]) {
    const lanes = new Lanes({ ...limits, maxYoung: 100 });
    proven(lanes, "e", 4);
    const [ticket] = Array.from({ length: inFlight }, () => beginOne(lanes, "e", true));
    assert.ok(ticket);
    assert.equal(lanes.readyCount, 1);
    lanes.slowed(ticket);
    assert.deepEqual([lanes.pick(true, 64), lanes.pick(false, 64)], [[], []]);
    assert.equal(lanes.readyCount, 0);
  }
});

test("an endpoint that waits moves to the queue of its new speed, and one that does not wait stays out", () => {
  const lanes = new Lanes({ ...limits, maxYoung: 100, maxPerEndpoint: 16 });
  proven(lanes, "e", 16);
  const ticket = beginOne(lanes, "e", true);
  assert.equal(lanes.readyCount, 1);
  lanes.slowed(ticket);
  assert.deepEqual([lanes.pick(true, 64), lanes.readyCount], [[], 1]);
  const [picked, ...others] = lanes.pick(false, 64);
  assert.deepEqual([picked?.endpointId, others], ["e", []]);
  lanes.claimed(named("e"), picked?.most ?? 0, 0);
  lanes.finished(ticket, false);
  assert.equal(lanes.speedOf(named("e")), "hanging");
  assert.deepEqual([lanes.readyCount, lanes.pick(false, 64)], [0, []]);
});

test("prompt endpoints together take no more than the young slots", () => {
  const lanes = new Lanes(limits);
  for (const name of ["a", "b", "c"]) proven(lanes, name, 4);
  for (const name of ["a", "b", "c"]) lanes.ready(named(name), false);
  const count = lanes.pick(true, 64).reduce((sum, { most }) => sum + most, 0);
  assert.equal(count, limits.maxYoung);
});

test("endpoints that failed promptly leave a quarter of the slow slots as well", () => {
  const lanes = new Lanes({ ...limits, maxYoung: 100, maxYoungUnproven: 50 });
  for (let i = 0; i < 20; i++) {
    const ticket = begin(lanes, named(`e-${i}`));
    assert.ok(ticket);
    lanes.finished(ticket, false);
    assert.equal(lanes.speedOf(named(`e-${i}`)), "failing");
  }
  for (const { endpointId, most } of pick(lanes, 64)) lanes.claimed(endpointId, most, 0);
  for (let i = 0; i < 20; i++) lanes.ready(named(`e-${i}`), false);
  assert.equal(pick(lanes, 64).length, 9, "three quarters of twelve");
});
