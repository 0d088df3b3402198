import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { OpenSessions } from "./open-sessions.ts";

const tenant: Tenant = { organizationId: knownId("o"), environment: "sandbox" };

const anyMove = fc.record({ what: fc.constantFrom("create", "create", "create", "end"), process: fc.nat(3) });

test("one process never opens more sessions than the limit, and each further one at most a hundredth more", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 600 }),
      fc.nat(3),
      fc.array(anyMove, { maxLength: 800 }),
      (limit, further, moves) => {
        const processes = Array.from({ length: 1 + further }, () => new OpenSessions(limit));
        let open = 0;
        for (const { what, process } of moves) {
          const counts = processes[process % processes.length] ?? assert.fail();
          if (what === "end") open = Math.max(0, open - 1);
          else {
            const upTo = counts.countUpTo(tenant);
            const counted = Math.min(open, upTo);
            if (upTo > 0) counts.counted(tenant, counted);
            if (counted < limit) open += 1;
          }
          assert.ok(open <= limit * (1 + further / 100), `${open} of ${limit}`);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("between two counts a process creates a hundredth of the room that it found, and near the limit none", () => {
  const counts = new OpenSessions(1000);
  counts.counted(tenant, 500);
  assert.deepEqual(
    Array.from({ length: 7 }, () => counts.countUpTo(tenant)),
    [0, 0, 0, 0, 0, 1000, 1000],
  );
  counts.counted(tenant, 901);
  assert.equal(counts.countUpTo(tenant), 1000);
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
