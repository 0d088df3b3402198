import assert from "node:assert/strict";
import test from "node:test";
import { systemClock } from "../kernel/clock.ts";
import { createLog } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { type Job, Scheduler } from "./scheduler.ts";

/** Runs a job whose calls handle these numbers of items. */
async function drained(handled: number[], options: Pick<Job, "batchSize">) {
  const metrics = new Metrics();
  let calls = 0;
  const run = async () => handled[calls++] ?? 0;
  const scheduler = new Scheduler([{ name: "job", everyMs: 1000, run, ...options }], {
    log: createLog({ level: "error", write: () => {}, now: () => new Date(0) }),
    clock: systemClock,
    metrics,
    tracer: null,
    claim: async () => true,
    firstRunWithinMs: null,
  });
  await scheduler.run("job");
  const counted = Number(/^assay_job_items_total\{job="job"\} (\d+)$/m.exec(metrics.render())?.[1]);
  return { calls, counted };
}

test("a job is repeated until nothing is left, and one of items that come all the time after full batches only", async () => {
  assert.deepEqual(await drained([5, 5, 2, 0], {}), { calls: 4, counted: 12 });
  assert.deepEqual(await drained([5, 6, 2, 1, 0], { batchSize: 5 }), { calls: 3, counted: 13 });
});
