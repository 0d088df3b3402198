import assert from "node:assert/strict";
import { test } from "node:test";
import type { Who } from "../../platform/lib/waiting-line.ts";
import { PoolBusyError, WorkerLostError } from "../../platform/lib/worker-pool.ts";
import { ChipExaminer, type ExaminerOptions } from "./chip-examiner.ts";
import type { ChipTask } from "./chip-task.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const bytes = (...values: number[]) => Uint8Array.from(values);
const files = { SOD: bytes(1), DG1: bytes(2), DG2: bytes(3), DG14: bytes(4) };

/** A pool that fails once with each of these errors, and then returns the task itself. */
function examinerWith(errors: readonly Error[], options: ExaminerOptions = {}) {
  const tasks: ChipTask[] = [];
  const whos: Who[] = [];
  const left = [...errors];
  let busy = 0;
  let closed = false;
  const pool = {
    waiting: 7,
    run: async (task: ChipTask, who: Who) => {
      tasks.push(task);
      whos.push(who);
      const error = left.shift();
      if (error !== undefined) throw error;
      return task;
    },
    close: async () => {
      closed = true;
    },
  };
  const examiner = new ChipExaminer({ retryMs: 0, ...options, pool });
  const asking = {
    sandbox: true,
    organization: "o",
    onBusy: () => {
      busy += 1;
    },
  };
  const simulate = () => examiner.simulateFace(files.SOD, now, asking);
  return { examiner, asking, tasks, whos, simulate, busy: () => busy, isClosed: () => closed };
}

const times = (count: number, make: () => Error) => Array.from({ length: count }, make);
const lost = () => new WorkerLostError();
const full = () => new PoolBusyError();

test("each check is a separate task for its caller, by the operator's policy", async () => {
  const { examiner, asking, tasks, whos } = examinerWith([], { policy: "sha1=refuse" });
  await examiner.verify({ trust: "test_country", files, now }, asking);
  await examiner.beginProof("chip_authentication", files, asking);
  const state = { proof: "active_authentication", challenge: bytes(8) } as const;
  await examiner.continueProof(state, [bytes(9)], { ...files, DG15: bytes(5) }, asking);
  await examiner.simulateFace(files.SOD, now, asking);
  const nowMs = now.getTime();
  assert.deepEqual(tasks, [
    { kind: "verify", trust: "test_country", files, policy: "sha1=refuse", nowMs },
    // The portrait stays where it is.
    { kind: "begin_proof", proof: "chip_authentication", files: { DG1: files.DG1, DG14: files.DG14 } },
    {
      ...{ kind: "continue_proof", state, answers: [bytes(9)] },
      files: { DG1: files.DG1, DG14: files.DG14, DG15: bytes(5) },
    },
    { kind: "find_test_document", sod: files.SOD, nowMs },
  ]);
  assert.deepEqual(whos[0], { sandbox: true, organization: "o" });
  assert.equal(examiner.waiting, 7);
});

test("without a policy it is the usual one", async () => {
  const { examiner, asking, tasks } = examinerWith([]);
  await examiner.verify({ trust: "test_country", files, now }, asking);
  assert.ok(tasks[0]?.kind === "verify" && tasks[0].policy === "");
});

test("the task of a lost thread is repeated twice; a task that ends three threads is given up", async () => {
  const lucky = examinerWith(times(2, lost));
  await lucky.simulate();
  assert.deepEqual([lucky.tasks.length, lucky.busy()], [3, 0]);
  const deadly = examinerWith(times(3, lost));
  await assert.rejects(deadly.simulate(), WorkerLostError);
  assert.equal(deadly.tasks.length, 3);
});

test("if the queue is full, the caller is notified once and the task is retried until the time is over", async () => {
  const late = examinerWith(times(5, full));
  await late.simulate();
  assert.deepEqual([late.tasks.length, late.busy()], [6, 1]);
  const never = examinerWith(times(9, full), { patienceMs: 0 });
  await assert.rejects(never.simulate(), PoolBusyError);
  assert.deepEqual([never.tasks.length, never.busy()], [1, 0]);
  const both = examinerWith([lost(), full(), lost(), full()]);
  await both.simulate();
  assert.deepEqual([both.tasks.length, both.busy()], [5, 1]);
});

test("the time that was waited counts: half to one and a half of the pause, each time", async (t) => {
  t.mock.method(Math, "random", () => 0.5);
  const { simulate, tasks } = examinerWith(times(9, full), { retryMs: 1, patienceMs: 3 });
  await assert.rejects(simulate(), PoolBusyError);
  assert.equal(tasks.length, 4, "three pauses of one millisecond");
});

test("any other error is the caller's", async () => {
  const { simulate, tasks, busy } = examinerWith([new TypeError("a mistake of ours")]);
  await assert.rejects(simulate(), TypeError);
  assert.deepEqual([tasks.length, busy()], [1, 0]);
});

test("a service that closes waits for nothing, and tries nothing again", async () => {
  const { examiner, simulate, tasks, isClosed } = examinerWith(times(9, full), { retryMs: 60_000 });
  const waiting = simulate();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(tasks.length, 1);
  await examiner.close();
  await assert.rejects(waiting, PoolBusyError);
  assert.deepEqual([tasks.length, isClosed()], [2, true]);
  const gone = examinerWith(times(9, lost));
  await gone.examiner.close();
  await assert.rejects(gone.simulate(), WorkerLostError);
  assert.equal(gone.tasks.length, 1);
});
