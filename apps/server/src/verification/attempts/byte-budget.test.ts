import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import { verifySocketLimits } from "@assay/contract/verify-protocol";
import fc from "fast-check";
import { ByteBudget, type BytePart, byteLimits } from "./byte-budget.ts";

const organizations = ["a", "b", "c"] as unknown as readonly OrganizationId[];
const maxOfOneAttempt = verifySocketLimits.chipBytes + verifySocketLimits.faceBytes;

const anyMove = fc.record({
  run: fc.nat(9),
  part: fc.constantFrom<BytePart>("chip", "face"),
  bytes: fc.nat(40),
  releases: fc.integer({ min: 0, max: 4 }).map((chance) => chance === 0),
});

test("no limit is ever exceeded, a refusal changes nothing, and after every release nothing is counted", () => {
  fc.assert(
    fc.property(fc.array(anyMove, { maxLength: 200 }), (moves) => {
      const limits = { process: 100, sandbox: 50, organization: { live: 60, sandbox: 30 } };
      const budget = new ByteBudget(limits);
      const runs = Array.from({ length: 10 }, (_, index) => {
        const owner = {
          organizationId: organizations[index % 3] as OrganizationId,
          sandbox: index % 2 === 0,
        };
        return { owner, reservation: budget.open(owner), held: { chip: 0, face: 0 } };
      });
      const sum = (which: (run: (typeof runs)[number]) => boolean) =>
        runs.filter(which).reduce((total, { held }) => total + held.chip + held.face, 0);
      for (const { run: index, part, bytes, releases } of moves) {
        const run = runs[index] ?? assert.fail();
        if (releases) {
          run.reservation.release();
          run.held = { chip: 0, face: 0 };
        } else {
          const shrinks = bytes <= run.held[part];
          const done = run.reservation.resize(part, bytes);
          assert.ok(done || !shrinks, "to shrink always succeeds");
          if (done) run.held[part] = bytes;
        }
        assert.equal(
          budget.reserved,
          sum(() => true),
        );
        assert.equal(
          budget.reservedBySandbox,
          sum(({ owner }) => owner.sandbox),
        );
        assert.ok(budget.reserved <= limits.process && budget.reservedBySandbox <= limits.sandbox);
        for (const organizationId of organizations)
          for (const sandbox of [true, false]) {
            const own = sum(
              ({ owner }) => owner.organizationId === organizationId && owner.sandbox === sandbox,
            );
            assert.ok(own <= limits.organization[sandbox ? "sandbox" : "live"]);
          }
      }
      for (const { reservation } of runs) reservation.release();
      assert.deepEqual([budget.reserved, budget.reservedBySandbox, budget.owners], [0, 0, 0]);
    }),
  );
});

test("the limit that was met is reported, and every setting leaves room for one whole attempt", () => {
  const met: string[] = [];
  const limits = byteLimits({ processBytes: 1, sandboxPercent: 1, organizationPercent: 1 });
  const all = { process: maxOfOneAttempt, sandbox: maxOfOneAttempt };
  assert.deepEqual(limits, { ...all, organization: { live: maxOfOneAttempt, sandbox: maxOfOneAttempt } });
  const budget = new ByteBudget(
    { process: 100, sandbox: 50, organization: { live: 60, sandbox: 30 } },
    (limit) => met.push(limit),
  );
  const open = (index: number, sandbox: boolean) =>
    budget.open({ organizationId: organizations[index] as OrganizationId, sandbox });
  assert.equal(open(0, false).resize("chip", 61), false);
  assert.equal(open(0, true).resize("chip", 31), false);
  assert.equal(open(0, true).resize("chip", 30), true);
  assert.equal(open(1, true).resize("chip", 21), false);
  assert.equal(open(1, false).resize("chip", 60), true);
  assert.equal(open(2, false).resize("chip", 11), false);
  assert.deepEqual(met, ["organization", "organization", "sandbox", "process"]);
});

test("shares are parts of what the process may hold, those of the sandbox parts of the sandbox's", () => {
  const processBytes = 1000 * maxOfOneAttempt + 0.5;
  assert.deepEqual(byteLimits({ processBytes, sandboxPercent: 40, organizationPercent: 25 }), {
    process: 1000 * maxOfOneAttempt,
    sandbox: 400 * maxOfOneAttempt,
    organization: { live: 250 * maxOfOneAttempt, sandbox: 100 * maxOfOneAttempt },
  });
});

test("each limit can be used up to its last byte, and the one that is met is named", () => {
  const limits = { process: 100, sandbox: 50, organization: { live: 60, sandbox: 60 } };
  const met: string[] = [];
  const budget = new ByteBudget(limits, (limit) => met.push(limit));
  const [first, second, third] = organizations;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const sandbox = budget.open({ organizationId: first, sandbox: true });
  assert.deepEqual([sandbox.resize("chip", 50), sandbox.resize("chip", 51)], [true, false]);
  assert.equal(sandbox.resize("chip", 40), true);
  const live = budget.open({ organizationId: second, sandbox: false });
  assert.deepEqual([live.resize("face", 60), live.resize("chip", 1)], [true, false]);
  const last = budget.open({ organizationId: third, sandbox: false });
  assert.deepEqual([last.resize("chip", 1), budget.reserved], [false, 100]);
  assert.equal(last.resize("chip", 0), true, "what holds nothing gives nothing back");
  assert.deepEqual(met, ["sandbox", "process", "process"]);
});
