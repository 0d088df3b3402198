import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { OpenSessions } from "./open-sessions.ts";

const tenant: Tenant = { organizationId: knownId("o"), environment: "sandbox" };

const anyMove = fc.record({
  what: fc.constantFrom("create", "create", "create", "end", "answer"),
  process: fc.nat(3),
});

test("one process never opens more sessions than the limit, and each further one at most a fiftieth more", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2000 }),
      fc.nat(60),
      fc.nat(3),
      fc.array(anyMove, { maxLength: 800 }),
      (limit, roomAtFirst, further, moves) => {
        let now = 0;
        const muchLater = () => (now += 1000);
        const processes = Array.from({ length: 1 + further }, () => ({
          counts: new OpenSessions(limit, muchLater),
          // What a count saw, until it comes back. Near the limit a second one waits for it here.
          counted: null as number | null,
        }));
        let open = Math.max(0, limit - roomAtFirst);
        for (const { what, process } of moves) {
          const one = processes[process % processes.length] ?? assert.fail();
          const answer = () => {
            if (one.counted !== null) one.counts.counted(tenant, one.counted);
            one.counted = null;
          };
          if (what === "end") open = Math.max(0, open - 1);
          else if (what === "answer") answer();
          else {
            const upTo = one.counts.countUpTo(tenant) ?? assert.fail();
            if (upTo > 0) {
              answer();
              one.counted = open;
            }
            if (upTo === 0 || open < limit) open += 1;
          }
          assert.ok(open <= limit * (1 + further / 50), `${open} of ${limit}`);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test("after a count a process creates a hundredth of the limit or an eighth of the room, as much again while it counts, and near the limit none", () => {
  const counts = new OpenSessions(1000);
  const next = (length: number) => Array.from({ length }, () => counts.countUpTo(tenant));
  counts.counted(tenant, 500);
  assert.deepEqual(next(23), [...Array(10).fill(0), 1000, ...Array(10).fill(0), 1000, 1000]);
  counts.counted(tenant, 976);
  assert.deepEqual(next(9), [0, 0, 0, 1000, 0, 0, 0, 1000, 1000]);
  counts.counted(tenant, 993);
  assert.deepEqual(next(2), [1000, 1000]);
});

test("a tenant at its limit is not counted again at once, for a time that grows with the limit", () => {
  for (const [limit, fullMs] of [
    [100_000, 1000],
    [1000, 10],
    [999, 0],
  ] as const) {
    let now = 5;
    const counts = new OpenSessions(limit, () => now);
    counts.counted(tenant, limit);
    now += Math.max(0, fullMs - 1);
    assert.equal(counts.countUpTo(tenant), fullMs === 0 ? limit : null);
    assert.equal(counts.countUpTo({ ...tenant, environment: "live" }), limit);
    now = 5 + fullMs;
    assert.equal(counts.countUpTo(tenant), limit);
    counts.counted(tenant, limit - 1);
    assert.equal(counts.countUpTo(tenant), limit);
  }
});

test("a process remembers the counts of ten thousand tenants, each with its own environment", () => {
  const counts = new OpenSessions(1000);
  const tenantOf = (number: number): Tenant => ({ ...tenant, organizationId: knownId(`o${number}`) });
  for (let number = 0; number < 10_000; number++) counts.counted(tenantOf(number), 0);
  assert.equal(counts.countUpTo(tenantOf(0)), 0);
  assert.equal(counts.countUpTo({ ...tenantOf(0), environment: "live" }), 1000);
  counts.counted(tenantOf(10_000), 0);
  assert.deepEqual([counts.countUpTo(tenantOf(0)), counts.countUpTo(tenantOf(10_000))], [1000, 0]);
});
