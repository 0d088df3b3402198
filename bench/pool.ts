// Best number of connections to PostgreSQL per process: reading and creating sessions, and a burst of
// cancellations that fans out, with pools of different sizes in turn. `--quick`: a fifth of the load and two
// rounds. `--sizes 2,8`: only those sizes.

import { loadavg } from "node:os";
import { resolve } from "node:path";
import { median } from "@assay/face/median";
import { Pool } from "undici";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { cancelAll, cpuSeconds, createSessions, type System } from "./support/system.ts";
import { ask, countOf, type Rig, received, withReceiver } from "./support/with-receiver.ts";

const readers = 32;
const endpoints = 20;

type Figures = {
  readsPerSecond: number;
  readP99Ms: number;
  deliveriesPerSecond: number;
  ackMs: number;
  cpuMs: number;
};

export async function run(options: readonly string[] = []): Promise<void> {
  const at = options.indexOf("--sizes");
  const sizes = (at < 0 ? "2,4,6,8,10,16,24" : (options[at + 1] ?? "")).split(",").map(Number);
  const [scale, rounds] = options.includes("--quick") ? [1 / 5, 2] : [1, 3];
  const [reads, bursts] = [Math.round(3000 * scale), Math.round(150 * scale)];
  console.log(
    `\nSizes of the pool: ${reads} readings by ${readers} at once, then ${bursts} events to ${endpoints} endpoints each`,
  );
  const measureAll = async ({ folder, receiver, start }: Rig) => {
    const usedMs = async (system: System) =>
      (await cpuSeconds(system)) * 1000 + postgresMicroseconds(folder) / 1000;
    const systems = new Map<number, System>();
    const figures = new Map(sizes.map((size) => [size, [] as Figures[]]));
    for (const size of sizes)
      systems.set(
        size,
        await start({
          name: `pool_${size}`,
          root: resolve(import.meta.dirname, ".."),
          roles: ["all"],
          endpointsEach: endpoints,
          settings: { DATABASE_POOL_SIZE: String(size) },
        }),
      );
    // The first round warms code and connections.
    for (let round = 0; round <= rounds; round++)
      for (const [size, system] of systems) {
        const ids = await createSessions(system, bursts);
        const before = await usedMs(system);
        const reading = await readAll(system, ids, reads);
        const arrivedBefore = await countOf(receiver);
        await ask(receiver, { ask: "record" });
        const startedAt = performance.now();
        const { took } = await cancelAll(system, ids, { connections: 16, ratePerSecond: null });
        await received(receiver, arrivedBefore, bursts * endpoints);
        const seconds = (performance.now() - startedAt) / 1000;
        if (round > 0)
          figures.get(size)?.push({
            ...reading,
            deliveriesPerSecond: (bursts * endpoints) / seconds,
            ackMs: median(took),
            cpuMs: (await usedMs(system)) - before,
          });
      }
    report(figures);
  };
  await withReceiver(measureAll, { max_connections: "200" });
}

function report(figures: ReadonlyMap<number, readonly Figures[]>): void {
  console.log("  size   readings/s   p99 ms   deliveries/s   answered p50 ms   CPU s a round");
  for (const [size, all] of figures) {
    const of = (what: keyof Figures, digits = 0) => median(all.map((one) => one[what])).toFixed(digits);
    console.log(
      `  ${String(size).padStart(4)} ${of("readsPerSecond").padStart(12)} ${of("readP99Ms").padStart(8)} ${of("deliveriesPerSecond").padStart(14)} ${of("ackMs").padStart(17)} ${(Number(of("cpuMs")) / 1000).toFixed(1).padStart(15)}`,
    );
  }
  console.log(
    `  load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(", ")}`,
  );
}

async function readAll(system: System, ids: readonly string[], count: number) {
  const pool = new Pool(system.url, { connections: readers, pipelining: 1 });
  const headers = { authorization: `Bearer ${system.key}` };
  const took: number[] = [];
  let left = count;
  const startedAt = performance.now();
  const reader = async () => {
    while (left > 0) {
      left -= 1;
      const from = performance.now();
      const { statusCode, body } = await pool.request({
        method: "GET",
        path: `/v1/sessions/${ids[left % ids.length]}`,
        headers,
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`${system.name} answered ${statusCode}`);
      took.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: readers }, reader));
  await pool.close();
  took.sort((a, b) => a - b);
  return {
    readsPerSecond: (count / (performance.now() - startedAt)) * 1000,
    readP99Ms: took[Math.floor(took.length * 0.99)] ?? Number.NaN,
  };
}
