import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { encode } from "jpeg-js";
import { widths } from "../../../test/support/odd-face-models.ts";
import { type Way, widthOf } from "../../../test/support/prying-face-models.ts";
import { createLog } from "../../platform/lib/log.ts";
import { withoutNetwork } from "../../platform/lib/network-namespace.ts";
import { killedWithParent } from "../../platform/lib/parent-death.ts";
import type { FaceJob } from "./face-job.ts";
import { FaceWorkerPool, type FaceWorkerPoolOptions, WorkerFault } from "./face-worker-pool.ts";

const support = new URL("../../../test/support/", import.meta.url);
const logLines: string[] = [];
const log = createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date(0) });

const pictures = new Map<string, Uint8Array>();

/** Kept, because the encoder builds its tables again for each picture. */
function picture(width: number, light = 200): Uint8Array {
  const key = `${width} ${light}`;
  const known = pictures.get(key);
  if (known !== undefined) return known;
  const data = new Uint8Array(width * 16 * 4).fill(light);
  const made = new Uint8Array(encode({ data, width, height: 16 }, 80).data);
  pictures.set(key, made);
  return made;
}

function jobOf(width: number): FaceJob {
  return {
    portrait: picture(widths.fine),
    frames: [{ atMs: 1, receivedAtMs: 2, jpeg: picture(width) }],
  };
}

function poolWith(options: Partial<FaceWorkerPoolOptions> = {}): FaceWorkerPool {
  return new FaceWorkerPool({
    log,
    modelsModule: new URL("odd-face-models.ts", support).href,
    readableFolders: [fileURLToPath(support)],
    ...options,
  });
}

const faultWith = (reason: string) => (error: unknown) =>
  error instanceof WorkerFault && error.reason === reason;

const liveTry = { sandbox: false };
const sandboxTry = { sandbox: true };

let pool: FaceWorkerPool;
before(() => {
  pool = poolWith({ maxResidentBytes: 400_000_000, queueLimit: 3 });
});
after(() => pool.close());

async function works(): Promise<void> {
  const result = await pool.run(jobOf(widths.fine), liveTry);
  assert.equal(result.kind, "measured");
}

test("face workers start on demand and answer with another set of models", async () => {
  assert.deepEqual(pool.processIds, []);
  await works();
  assert.equal(pool.processIds.length, 1);
});

test("eight tries may wait for each face worker, and one more finds no place", async () => {
  const two = poolWith({ workers: 2 });
  const tries: Promise<unknown>[] = [];
  while (two.hasCapacity(liveTry) && tries.length < 50)
    tries.push(two.run(jobOf(widths.fine), liveTry).catch((error: unknown) => error));
  assert.equal(two.waiting, 16);
  await two.close();
  await Promise.all(tries);
});

test("face workers show the frames that are compared to the operator's own detector, which may read no more than they", async () => {
  const watched = poolWith({ detectorModule: new URL("tiny-attack-detector.ts", support).href });
  const box = { x: 4, y: 4, width: 8, height: 8 };
  const pose = { yaw: 0, pitch: 0, roll: 0, size: 8, eyes: 0.3, mouth: 0.05 };
  const face = { ...pose, box, faceLight: [0, 0, 0], surroundingLight: null } as const;
  const seen = { kind: "seen", faces: 1, width: 16, height: 16, face, box, mayFollow: 0 } as const;
  const scoreOf = async (light: number) => {
    const frame = { receivedAtMs: 2_000, jpeg: picture(widths.fine, light) };
    const frames = [0, 1, 2, 3].map((index) => ({ ...frame, atMs: index * 200 }));
    const job = { portrait: picture(widths.fine), frames, seen: frames.map(() => seen) };
    const result = await watched.run(job, liveTry);
    return result.kind === "measured" ? result.attackScore : result.kind;
  };
  assert.deepEqual([await scoreOf(200), await scoreOf(0)], [0, 1]);
  await watched.close();
});

test("face workers keep nothing they could leak with: no environment, no other file, nothing to write", async () => {
  const result = await pool.run(jobOf(widths.pries), liveTry);
  assert.equal(result.kind === "measured" ? result.frames[0]?.faces : undefined, 0);
});

test("face workers reach no service of this machine, no database and no other file, by no way out of their process that we know", async (t) => {
  const listening = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(listening, "listening");
  t.after(() => listening.close());
  const folder = new URL(process.env.ASSAY_TEST_POSTGRES ?? "postgresql:///").searchParams.get("host") ?? "";
  const module = new URL("prying-face-models.ts", support);
  module.searchParams.set("port", String((listening.address() as AddressInfo).port));
  module.searchParams.set("socket", join(folder, ".s.PGSQL.5432"));
  module.searchParams.set("passwords", join(folder, "../../database-passwords"));
  const prying = poolWith({ modelsModule: module.href });
  t.after(() => prying.close());
  const isOpen = async (way: Way) => {
    const result = await prying.run(jobOf(widthOf(way)), liveTry);
    return result.kind === "measured" ? result.frames[0]?.faces === 1 : result.kind;
  };
  assert.equal(await isOpen("fine"), true);
  assert.equal(await isOpen("sqlite"), false);
  if (withoutNetwork() === null) t.diagnostic("this system lets no process give up the network");
  else assert.equal(await isOpen("tcp"), false);
  if (!folder.startsWith("/")) return t.diagnostic("the database of the tests has no socket");
  assert.ok(readFileSync(join(folder, "../../database-passwords")).length > 0, "there is something to read");
  for (const way of ["passwords", "database", "serviceDatabase"] as const)
    assert.equal(await isOpen(way), false, way);
});

test("face workers are ended when they take too long, and the next try gets a new one", async () => {
  const impatient = poolWith({ jobTimeoutMs: 5_000 });
  await assert.rejects(impatient.run(jobOf(widths.hangs), liveTry), faultWith("timed_out"));
  assert.equal((await impatient.run(jobOf(widths.fine), liveTry)).kind, "measured");
  await impatient.close();
});

test("face workers end with the process that started them, even in an endless loop", {
  skip: killedWithParent().length === 0 && "there is no setpriv of util-linux",
}, async (t) => {
  const job = jobOf(widths.loops);
  const base64 = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("base64");
  const parent = spawn(process.execPath, [
    "--input-type=module",
    "--eval",
    `import { FaceWorkerPool } from ${JSON.stringify(new URL("face-worker-pool.ts", import.meta.url).href)};
    const support = ${JSON.stringify(support.href)};
    const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
    const pool = new FaceWorkerPool({
      log: { debug() {}, info() {}, warn() {}, error() {} },
      modelsModule: support + "odd-face-models.ts",
      readableFolders: [${JSON.stringify(fileURLToPath(support))}],
    });
    void pool.run({
      portrait: bytes("${base64(job.portrait)}"),
      frames: [{ atMs: 1, receivedAtMs: 2, jpeg: bytes("${base64(job.frames[0]?.jpeg)}") }],
    }, { sandbox: false });
    const look = setInterval(() => {
      if (pool.waiting > 0) return;
      clearInterval(look);
      console.log(pool.processIds[0]);
    }, 20);`,
  ]);
  t.after(() => parent.kill("SIGKILL"));
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const worker = Number(line.toString());
  /** Ticks of its time on a processor, of which there are a hundred in a second; null once it is gone. */
  const ticks = (): number | null => {
    try {
      const fields = readFileSync(`/proc/${worker}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return fields[0] === "Z" ? null : Number(fields[11]);
    } catch {
      return null;
    }
  };
  const begun = ticks() ?? assert.fail("the worker is gone");
  const until = async (holds: () => boolean, what: string) => {
    for (let look = 0; !holds(); look++) {
      assert.ok(look < 1000, what);
      await wait(20);
    }
  };
  // What comes before the loop takes a few milliseconds.
  await until(() => (ticks() ?? 0) > begun + 30, "the worker does not loop");
  parent.kill("SIGKILL");
  t.after(() => ticks() !== null && process.kill(worker, "SIGKILL"));
  await until(() => ticks() === null, "the worker has survived");
});

test("face workers are ended when they hold too much", async () => {
  await assert.rejects(pool.run(jobOf(widths.swells), liveTry), faultWith("memory_exceeded"));
  await works();
});

test("face workers are replaced when they die or break, and what broke is not logged", async () => {
  await assert.rejects(pool.run(jobOf(widths.dies), liveTry), faultWith("worker_died"));
  await works();
  await assert.rejects(pool.run(jobOf(widths.breaks), liveTry), faultWith("worker_error"));
  await works();
  assert.ok(logLines.some((line) => line.includes("RangeError")));
  assert.ok(!logLines.some((line) => line.includes("secret")));
});

test("face workers refuse a try at once when as many wait as may, and answer the others in turn", async () => {
  await works();
  const order: number[] = [];
  const taken = [0, 1, 2, 3].map((turn) =>
    pool.run(jobOf(widths.fine), liveTry).then((result) => {
      order.push(turn);
      return result;
    }),
  );
  await assert.rejects(pool.run(jobOf(widths.fine), liveTry), faultWith("busy"));
  await Promise.all(taken);
  assert.deepEqual(order, [0, 1, 2, 3]);
});

test("face workers take live tries before those of the sandbox, which may fill half of the queue at most", async () => {
  await works();
  const order: string[] = [];
  const take = (name: string, who: typeof liveTry) =>
    pool.run(jobOf(widths.fine), who).then(() => order.push(name));
  // Three may wait: the first is at work at once, two of the sandbox fill their half.
  const taken = [take("at work", sandboxTry), take("sandbox 1", sandboxTry), take("sandbox 2", sandboxTry)];
  assert.equal(pool.hasCapacity(sandboxTry), false);
  await assert.rejects(pool.run(jobOf(widths.fine), sandboxTry), faultWith("busy"));
  assert.equal(pool.hasCapacity(liveTry), true);
  taken.push(take("live", liveTry));
  await Promise.all(taken);
  assert.deepEqual(order, ["at work", "live", "sandbox 1", "sandbox 2"]);
});

test("face workers look at a single frame only while they have nothing to do, and are ended sooner for it", async () => {
  const look = (width: number) => pool.look({ jpeg: picture(width), near: null, mayFollow: 0 });
  await works();
  const first = look(widths.fine);
  assert.equal((await first)?.kind, "seen");
  const taken = pool.run(jobOf(widths.fine), liveTry);
  assert.equal(look(widths.fine), null);
  await taken;
  assert.deepEqual(await pool.look({ jpeg: new Uint8Array(9), near: null, mayFollow: 0 }), {
    kind: "frame_unreadable",
  });

  const brief = poolWith({ lookTimeoutMs: 500 });
  assert.equal(brief.look({ jpeg: picture(widths.fine), near: null, mayFollow: 0 }), null);
  await brief.run(jobOf(widths.fine), liveTry);
  const answered = brief.look({ jpeg: picture(widths.fine), near: null, mayFollow: 0 });
  // This process is busy for longer than the look may take, while the answer waits to be read.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  assert.equal((await answered)?.kind, "seen");
  await assert.rejects(
    async () => brief.look({ jpeg: picture(widths.hangs), near: null, mayFollow: 0 }),
    faultWith("timed_out"),
  );
  await brief.close();
});

test("face workers report a frame or portrait that cannot be read, and go on", async () => {
  const good = jobOf(widths.fine);
  const rubbish = new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);
  assert.deepEqual(await pool.run({ ...good, portrait: rubbish }, liveTry), { kind: "portrait_unusable" });
  assert.deepEqual(
    await pool.run({ ...good, frames: [{ atMs: 1, receivedAtMs: 1, jpeg: rubbish }] }, liveTry),
    {
      kind: "frame_unreadable",
    },
  );
  await works();
});

test("face workers give their memory back when nothing is left to do", async () => {
  const brief = poolWith({ idleMs: 1 });
  await brief.run(jobOf(widths.fine), liveTry);
  // The process is gone when closing has nothing to end any more.
  for (let look = 0; look < 1_000 && brief.processIds.length > 0; look++)
    await new Promise((resolve) => setTimeout(resolve, 25));
  assert.deepEqual(brief.processIds, []);
  await brief.close();
});

test("face workers say so when the models cannot be loaded", async () => {
  const broken = poolWith({ modelsModule: new URL("no-such-models.ts", support).href });
  await assert.rejects(broken.run(jobOf(widths.fine), liveTry), faultWith("models_unavailable"));
  await broken.close();
});

test("face workers answer nothing after they are closed", async () => {
  const closing = poolWith();
  const running = assert.rejects(closing.run(jobOf(widths.hangs), liveTry), faultWith("closed"));
  await closing.close();
  await running;
  await assert.rejects(closing.run(jobOf(widths.fine), liveTry), faultWith("closed"));
  assert.deepEqual(closing.processIds, []);
});
