import assert from "node:assert/strict";
import { mock, test } from "node:test";
import fc from "fast-check";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { OpenSessions } from "./open-sessions.ts";

const tenant: Tenant = { organizationId: knownId("o"), environment: "sandbox" };

const anyMove = fc.record({
  what: fc.constantFrom("create", "create", "create", "end", "wait"),
  process: fc.nat(3),
  waitMs: fc.nat(200),
});

test("one process never opens more sessions than the limit, and each further one at most a hundredth more", () => {
  let now = 0;
  const time = mock.method(performance, "now", () => now);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 600 }),
      fc.nat(3),
      fc.array(anyMove, { maxLength: 800 }),
      (limit, further, moves) => {
        const processes = Array.from({ length: 1 + further }, () => new OpenSessions(limit));
        let open = 0;
        for (const { what, process, waitMs } of moves) {
          const counts = processes[process % processes.length] ?? assert.fail();
          if (what === "wait") now += waitMs;
          else if (what === "end") open = Math.max(0, open - 1);
          else {
            const upTo = counts.countUpTo(tenant);
            const counted = Math.min(open, upTo);
            if (upTo > 0) counts.counted(tenant, counted, 1);
            if (counted < limit) open += 1;
          }
          assert.ok(open <= limit * (1 + further / 100), `${open} of ${limit}`);
        }
      },
    ),
    { numRuns: 300 },
  );
  time.mock.restore();
});

test("far from the limit a busy tenant is counted once in fifty times the time that it takes, near it every time", () => {
  let now = 0;
  const time = mock.method(performance, "now", () => now);
  const counts = new OpenSessions(1000);
  counts.counted(tenant, 500, 4);
  assert.deepEqual([counts.countUpTo(tenant), counts.countUpTo(tenant)], [0, 0]);
  now = 199;
  assert.equal(counts.countUpTo(tenant), 0);
  now = 200;
  assert.equal(counts.countUpTo(tenant), 1000);
  counts.counted(tenant, 991, 4);
  assert.equal(counts.countUpTo(tenant), 1000);
  time.mock.restore();
});

test("between two counts a process creates a hundredth of the room that it found, and no more", () => {
  const time = mock.method(performance, "now", () => 0);
  const counts = new OpenSessions(1000);
  counts.counted(tenant, 500, 4);
  assert.deepEqual(
    Array.from({ length: 7 }, () => counts.countUpTo(tenant)),
    [0, 0, 0, 0, 0, 1000, 1000],
  );
  time.mock.restore();
});

test("a process remembers the counts of ten thousand tenants, the latest ones, each with its own environment", () => {
  const time = mock.method(performance, "now", () => 0);
  const counts = new OpenSessions(1000);
  const tenantOf = (number: number): Tenant => ({ ...tenant, organizationId: knownId(`o${number}`) });
  const isRemembered = (of: Tenant) => counts.countUpTo(of) === 0;
  for (let number = 0; number < 10_000; number++) counts.counted(tenantOf(number), 0, 1);
  counts.counted(tenantOf(5), 0, 1);
  assert.equal(isRemembered(tenantOf(0)), true, "to count one again removes no other");
  counts.counted(tenantOf(0), 0, 1);
  counts.counted(tenantOf(10_000), 0, 1);
  assert.deepEqual(
    [0, 1, 2, 10_000].map((number) => isRemembered(tenantOf(number))),
    [true, false, true, true],
  );
  assert.equal(isRemembered({ ...tenantOf(0), environment: "live" }), false);
  time.mock.restore();
});
