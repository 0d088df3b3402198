import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { later } from "../kernel/clock.ts";
import {
  type Allowance,
  Block,
  blockCountsForMs,
  blockForMs,
  blockSize,
  recounted,
  withBlock,
} from "./allowance.ts";

const start = new Date("2026-03-01T00:00:00Z");

const anyMove = fc.record({
  what: fc.constantFrom("create", "create", "create", "end", "wait", "recount"),
  process: fc.nat(2),
  waitMs: fc.nat(90_000),
});

test("whatever processes take, use, waste and count, there are never more open sessions than the limit", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.array(anyMove, { maxLength: 800 }), (limit, moves) => {
      let now = start;
      let open = 0;
      let allowance: Allowance = { bound: limit, granted: 0, grantedBefore: 0, windowFrom: start };
      const blocks: (Block | undefined)[] = [];
      for (const { what, process, waitMs } of moves) {
        if (what === "wait") now = later(now, waitMs);
        else if (what === "end") open = Math.max(0, open - 1);
        else if (what === "recount") allowance = recounted(allowance, open, now);
        else if (blocks[process]?.take(now) === true) open += 1;
        else {
          if (blockSize(allowance, limit) === 0) allowance = recounted(allowance, open, now);
          const size = blockSize(allowance, limit);
          allowance = withBlock(allowance, size, now);
          if (size > 0) blocks[process] = new Block(size, now);
          else if (allowance.bound < limit) {
            allowance = { ...allowance, bound: allowance.bound + 1 };
            open += 1;
          }
        }
        assert.ok(open <= limit, `${open} of ${limit}`);
        assert.ok(allowance.bound >= open || what === "create");
      }
    }),
    { numRuns: 300 },
  );
});

test("a block is used for a short time, and counts as unused for much longer", () => {
  assert.ok(blockCountsForMs >= 5 * blockForMs);
  const block = new Block(2, start);
  assert.equal(block.take(later(start, blockForMs - 1)), true);
  assert.equal(block.take(later(start, blockForMs)), false);
});

test("a count takes a block that was given out for open sessions until it is old enough", () => {
  const counted: Allowance = { bound: 0, granted: 0, grantedBefore: 0, windowFrom: start };
  const given = withBlock(counted, 8, start);
  const boundAfter = (ms: number) => recounted(given, 3, later(start, ms)).bound;
  assert.equal(boundAfter(0), 3 + 8);
  assert.equal(boundAfter(2 * blockCountsForMs - 1), 3 + 8, "a creation may have begun with its last place");
  assert.equal(boundAfter(2 * blockCountsForMs), 3);
});
