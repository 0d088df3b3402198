import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { sweepInOrder } from "./sweep.ts";

/** A table of keys, of which other processes lock some rows for a while. */
class Rows {
  readonly waiting: Set<string>;
  readonly held: Set<string>;
  batches = 0;
  maxBatch = 0;

  constructor(keys: readonly string[], held: readonly string[] = []) {
    this.waiting = new Set(keys);
    this.held = new Set(held);
  }

  async take(after: string, limit: number) {
    this.batches += 1;
    const batch = [...this.waiting]
      .sort()
      .filter((key) => key > after && !this.held.has(key))
      .slice(0, limit);
    this.maxBatch = Math.max(this.maxBatch, batch.length);
    const lastKey = batch.at(-1) ?? "";
    for (const key of batch) this.waiting.delete(key);
    return { handled: batch.length, lastKey };
  }
}

const keys = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 40 });

test("every row is dealt with once, in batches that never start over", async () => {
  await fc.assert(
    fc.asyncProperty(keys, fc.integer({ min: 1, max: 10 }), async (all, largest) => {
      const rows = new Rows(all);
      const run = sweepInOrder(largest, (after) => rows.take(after, largest));
      let total = 0;
      for (let done = await run(); done > 0; done = await run()) total += done;
      assert.equal(total, all.length);
      assert.ok(rows.maxBatch <= largest);
      assert.ok(rows.batches <= Math.ceil(all.length / largest) + 3);
    }),
  );
});

test("rows that somebody else held are found by a later pass", async () => {
  const rows = new Rows(["a", "b", "c"], ["a"]);
  const run = sweepInOrder(2, (after) => rows.take(after, 2));
  assert.equal(await run(), 2);
  rows.held.clear();
  assert.equal(await run(), 1);
  assert.equal(await run(), 0);
});

test("a batch that is not full ends the pass, so that rows with lower keys do not wait for those that keep coming", async () => {
  const rows = new Rows(["b"]);
  const run = sweepInOrder(2, (after) => rows.take(after, 2));
  assert.equal(await run(), 1);
  rows.waiting.add("a").add("c");
  assert.equal(await run(), 2);
});

test("a failure that has nothing to do with the rows moves nothing", async () => {
  const seen: string[] = [];
  let down = false;
  const run = sweepInOrder(2, async (after) => {
    seen.push(after);
    if (down) throw new Error("no connection");
    return { handled: 2, lastKey: `${after}x` };
  });
  await run();
  down = true;
  await assert.rejects(run(), /no connection/);
  await assert.rejects(run(), /no connection/);
  assert.deepEqual(seen, ["", "x", "x"]);
});
