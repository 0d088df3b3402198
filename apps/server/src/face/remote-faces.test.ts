import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CallClient } from "../lib/call-client.ts";
import { CallServer } from "../lib/call-server.ts";
import { KeyRing } from "../lib/key-ring.ts";
import { createLog } from "../lib/log.ts";
import { Metrics } from "../lib/metrics.ts";
import type { FaceJobResult } from "./face-job.ts";
import { WorkerFault } from "./face-worker-pool.ts";
import { callFaces, faceHandlers } from "./remote-faces.ts";

const ring = new KeyRing([{ id: "1", secret: Buffer.alloc(32, 1) }]);
const log = createLog({ level: "error", write: () => {}, now: () => new Date(0) });
const measured: FaceJobResult = { kind: "measured", frames: [], portraitEmbedding: [1, 0] };
const job = { frames: [], portrait: Uint8Array.of(1) };
const look = { jpeg: Uint8Array.of(1), near: null, mayFollow: 0 };
const live = { sandbox: false };

/** A process of the role `face` whose pool does as it is told. */
async function faceProcess(pool: Partial<Parameters<typeof faceHandlers>[0]> = {}) {
  const asked: string[] = [];
  const server = new CallServer({
    ring,
    metrics: new Metrics(),
    host: "127.0.0.1",
    port: 0,
    mostBytes: { call: 1_000, all: 10_000 },
    handlers: faceHandlers({
      warmUp: () => asked.push("warmed up"),
      hasPlace: () => true,
      run: async (_job, { sandbox }) => {
        asked.push(sandbox ? "sandbox" : "live");
        return measured;
      },
      look: () => null,
      ...pool,
    }),
  });
  const port = await server.listen();
  after(() => server.close());
  return { server, asked, host: `127.0.0.1:${port}` };
}

function facesAt(...hosts: string[]) {
  const resolveAddresses = async (name: string) => [name];
  const faces = callFaces(
    new CallClient({ role: "face", hosts, ring, log, count: () => {}, resolveAddresses }),
  );
  after(() => faces.close());
  return faces;
}

const faultWith = (reason: string) => (error: unknown) =>
  error instanceof WorkerFault && error.reason === reason;

test("nobody is filmed while all queues of other processes are full, and a place at any of them is enough", async () => {
  // The sandbox may fill half of a queue, so the process has to know who asks.
  const full = await faceProcess({ hasPlace: ({ sandbox }) => !sandbox });
  assert.equal(await facesAt(full.host).hasPlace({ sandbox: true }), false);
  assert.equal(await facesAt(full.host).hasPlace(live), true);
  assert.deepEqual(full.asked, ["warmed up"]);
  await assert.rejects(facesAt(full.host).run(job, { sandbox: true }), faultWith("busy"));
  assert.deepEqual(full.asked, ["warmed up"]);
  const free = await faceProcess();
  const both = facesAt(full.host, free.host);
  assert.equal(await both.hasPlace({ sandbox: true }), true);
  assert.deepEqual(await both.run(job, { sandbox: true }), measured);
  assert.deepEqual(free.asked, ["warmed up", "sandbox"]);
});

test("a try that waited in vain is told so, and not sent to the next queue to wait again", async () => {
  const slow = await faceProcess({ run: () => Promise.reject(new WorkerFault("busy")) });
  const other = await faceProcess({ hasPlace: () => false });
  await assert.rejects(facesAt(slow.host, other.host).run(job, live), faultWith("busy"));
  const ending = await faceProcess({ run: () => Promise.reject(new WorkerFault("closed")) });
  const staying = await faceProcess();
  for (let time = 0; time < 3; time++)
    assert.deepEqual(await facesAt(ending.host, staying.host).run(job, live), measured);
});

test("the death of a process with a try costs a repeated call, and the try only where nobody is left or each one dies", async () => {
  const deaths: (() => void)[] = [];
  const dying = () =>
    faceProcess({
      run: () => {
        deaths.shift()?.();
        return new Promise(() => {});
      },
    });
  const [first, second, third] = [await dying(), await dying(), await dying()];
  const ends = [first, second, third].map(
    ({ server }) =>
      () =>
        void server.close(),
  );
  // Whichever is asked, all that are still there end but the one that works.
  const staying = await faceProcess();
  deaths.push(() => ends[0]?.());
  const faces = facesAt(first.host);
  await assert.rejects(faces.run(job, live), faultWith("busy"));
  deaths.push(() => ends[1]?.());
  assert.deepEqual(await facesAt(second.host, staying.host).run(job, live), measured);
  // Pictures that bring down every process end with a fault.
  const fatal = await faceProcess({ run: () => Promise.reject(new WorkerFault("worker_died")) });
  await assert.rejects(facesAt(fatal.host).run(job, live), faultWith("worker_died"));
});

test("a frame for which no process has the time, or whose process dies, is left to the judgement", async () => {
  const busy = await faceProcess();
  assert.equal(await facesAt(busy.host).look(look), null);
  const dying = await faceProcess({
    look: () => {
      void dying.server.close();
      return new Promise(() => {});
    },
  });
  assert.equal(await facesAt(dying.host).look(look), null);
  assert.equal(await facesAt(dying.host).look(look), null);
  const seen = { kind: "frame_unreadable" } as const;
  const free = await faceProcess({ look: async () => seen });
  assert.deepEqual(await facesAt(busy.host, free.host).look(look), seen);
});
