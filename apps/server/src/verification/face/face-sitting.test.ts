import assert from "node:assert/strict";
import { test } from "node:test";
import type { FaceLook, FaceLookResult, SeenFrame } from "./face-job.ts";
import { FaceSitting } from "./face-sitting.ts";
import { WorkerFault } from "./face-worker-pool.ts";

const jpeg = (number: number) => Uint8Array.of(number);
const frame = (number: number) => ({ jpeg: jpeg(number), atMs: number * 200, receivedAtMs: number * 200 });

function seenAt(x: number): SeenFrame {
  const box = { x, y: 0, width: 10, height: 10 };
  const pose = { yaw: 0, pitch: 0, roll: 0, size: 10, eyes: 0.3, mouth: 0.05 };
  const face = { ...pose, box, faceLight: [0, 0, 0], surroundingLight: null } as const;
  return { kind: "seen", faces: 1, width: 20, height: 20, face, box, mayFollow: 3 };
}

/** A worker that records looks and answers when the test says so. */
function slowWorker() {
  const asked: {
    look: FaceLook;
    answer(result: FaceLookResult): void;
    fail(error: Error): void;
  }[] = [];
  const state = { free: true };
  const reported: unknown[] = [];
  const look = (look: FaceLook) => {
    if (!state.free) return null;
    return new Promise<FaceLookResult>((answer, fail) => asked.push({ look, answer, fail }));
  };
  const sitting = new FaceSitting(look, (soFar) =>
    reported.push(typeof soFar === "string" ? soFar : soFar.map(({ atMs, face }) => [atMs, face?.box.x])),
  );
  return { asked, state, reported, sitting };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("frames are looked at one after another, each with where the face was in the one before", async () => {
  const { asked, sitting } = slowWorker();
  sitting.add(frame(1));
  sitting.add(frame(2));
  assert.deepEqual(
    asked.map(({ look }) => look),
    [{ jpeg: jpeg(1), near: null, mayFollow: 0 }],
  );
  asked[0]?.answer(seenAt(7));
  await soon();
  assert.deepEqual(asked[1]?.look, { jpeg: jpeg(2), near: seenAt(7).box, mayFollow: 3 });
  assert.equal(sitting.looked, 1);
  const finished = sitting.finish();
  asked[1]?.answer(seenAt(8));
  assert.deepEqual(await finished, { kind: "seen", frames: [seenAt(7), seenAt(8)] });
});

test("frames for which no worker is idle are left to the judgement, in order", async () => {
  const { asked, state, sitting } = slowWorker();
  sitting.add(frame(1));
  asked[0]?.answer(seenAt(1));
  await soon();
  state.free = false;
  sitting.add(frame(2));
  state.free = true;
  sitting.add(frame(3));
  assert.deepEqual(asked[1]?.look.jpeg, jpeg(2));
  asked[1]?.answer(seenAt(2));
  const { kind, ...found } = await sitting.finish();
  assert.deepEqual([kind, found], ["seen", { frames: [seenAt(1), seenAt(2)] }]);
  await soon();
  sitting.add(frame(4));
  assert.equal(asked.length, 2);
});

test("a frame that cannot be read, or brings its worker down, is the last one looked at and decides the try", async () => {
  const unreadable = slowWorker();
  unreadable.sitting.add(frame(1));
  unreadable.asked[0]?.answer({ kind: "frame_unreadable" });
  await soon();
  unreadable.sitting.add(frame(2));
  assert.equal(unreadable.asked.length, 1);
  assert.deepEqual(await unreadable.sitting.finish(), { kind: "frame_unreadable" });

  const deadly = slowWorker();
  deadly.sitting.add(frame(1));
  deadly.asked[0]?.fail(new WorkerFault("worker_died"));
  await soon();
  deadly.sitting.add(frame(2));
  assert.equal(deadly.asked.length, 1);
  assert.deepEqual(await deadly.sitting.finish(), { kind: "fault", reason: "worker_died" });
});

test("what was found is dropped with the frames", async () => {
  const { asked, sitting } = slowWorker();
  sitting.add(frame(1));
  asked[0]?.answer(seenAt(1));
  await soon();
  sitting.forget();
  sitting.add(frame(2));
  assert.equal(asked.length, 1);
  assert.deepEqual(await sitting.finish(), { kind: "seen", frames: [] });
});

test("after each look the results so far are reported with their times, until the sitting is closed", async () => {
  const { asked, reported, sitting } = slowWorker();
  for (const number of [1, 2, 3]) sitting.add(frame(number));
  asked[0]?.answer(seenAt(7));
  await soon();
  asked[1]?.answer(seenAt(8));
  await soon();
  assert.deepEqual(reported.splice(0), [
    [[200, 7]],
    [
      [200, 7],
      [400, 8],
    ],
  ]);
  sitting.forget();
  asked[2]?.answer({ kind: "frame_unreadable" });
  await soon();
  assert.deepEqual(reported, []);
});
