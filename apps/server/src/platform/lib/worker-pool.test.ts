import assert from "node:assert/strict";
import { test } from "node:test";
import { PoolBusyError, WorkerLostError, WorkerPool, type WorkerPoolOptions } from "./worker-pool.ts";

const module = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", (task) => {
      if (task === "crash") process.exit(1);
      if (task === "throw") throw new Error("secret");
      if (task === "hang") for (;;) {}
      if (task === "fail") parentPort.postMessage({ failed: "RangeError" });
      else parentPort.postMessage({ answer: task + "!" });
    });`)}`,
);

const who = { sandbox: false, organization: null };

async function withPool(
  options: Partial<WorkerPoolOptions>,
  work: (pool: WorkerPool<string, string>) => Promise<void>,
) {
  const pool = new WorkerPool<string, string>(module, {
    threads: 1,
    maxWaiting: 8,
    taskMs: 60_000,
    ...options,
  });
  try {
    await work(pool);
  } finally {
    await pool.close();
  }
}

test("tasks are answered, each with its own answer", () =>
  withPool({ threads: 2 }, async (pool) => {
    const tasks = ["a", "b", "c", "d", "e"];
    assert.deepEqual(
      await Promise.all(tasks.map((task) => pool.run(task, who))),
      tasks.map((task) => `${task}!`),
    );
    await assert.rejects(pool.run("fail", who), /a worker failed: RangeError/);
  }));

test("what does not fit into the queue is refused at once, and the rest is still answered", () =>
  withPool({ maxWaiting: 2 }, async (pool) => {
    const accepted = ["a", "b", "c"].map((task) => pool.run(task, who));
    await assert.rejects(pool.run("d", who), PoolBusyError);
    assert.deepEqual(await Promise.all(accepted), ["a!", "b!", "c!"]);
  }));

test("a thread that ends loses its own task only, and another takes its place", () =>
  withPool({}, async (pool) => {
    for (const end of ["crash", "throw"]) {
      const lost = pool.run(end, who);
      const next = pool.run("a", who);
      await assert.rejects(lost, WorkerLostError);
      assert.equal(await next, "a!");
    }
  }));

test("a task that takes too long is given up", () =>
  withPool({ taskMs: 50 }, async (pool) => {
    await assert.rejects(pool.run("hang", who), WorkerLostError);
  }));

test("closing gives up what waits", async () => {
  const pool = new WorkerPool<string, string>(module, { threads: 1, maxWaiting: 8, taskMs: 60_000 });
  const running = [pool.run("hang", who), pool.run("a", who)];
  const settled = Promise.allSettled(running);
  await pool.close();
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ["rejected", "rejected"],
  );
});
