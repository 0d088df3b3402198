// A burst that fans out: sessions are cancelled over HTTP as fast as possible, and each notifies twenty
// endpoints. Measures the time from a request until every endpoint has its delivery, with sending in the
// answering process and in a separate one.

import { loadavg } from "node:os";
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { median } from "@assay/face/median";
import pg from "pg";
import { postgresMicroseconds } from "./postgres-usage.ts";
import { cancelAll, cpuSeconds, createSessions, type System } from "./system.ts";
import { ask, countOf, received, withReceiver } from "./with-receiver.ts";

const rounds = 3;
const endpoints = 20;
/** Concurrent requests. */
const connections = 16;

type Figures = {
  perSecond: number;
  serverMs: number;
  postgresMs: number;
  ackMs: number;
  p50Ms: number;
  p99Ms: number;
  rssMb: number;
};

export async function burst(sessions: number, against: string | null): Promise<void> {
  console.log(
    `\nA burst of ${sessions} events to ${endpoints} endpoints each, ${connections} requests at once`,
  );
  const own = resolve(import.meta.dirname, "../..");
  await withReceiver(async ({ folder, receiver, start }) => {
    const endpointsEach = endpoints;
    const systems = [
      await start({ name: "together", root: own, roles: ["all"], endpointsEach }),
      await start({ name: "apart", root: own, roles: ["api", "worker"], endpointsEach }),
    ];
    if (against !== null)
      systems.push(await start({ name: "before", root: resolve(against), roles: ["all"], endpointsEach }));
    const measure = async (system: System): Promise<Figures> => {
      const ids = await createSessions(system, sessions);
      await ask(receiver, { ask: "record" });
      const before = { server: await cpuSeconds(system), postgres: postgresMicroseconds(folder) };
      const arrivedBefore = await countOf(receiver);
      const startedAt = performance.now();
      const sent = await cancelAll(system, ids, { connections, ratePerSecond: null });
      const receipts = await received(receiver, arrivedBefore, sessions * endpoints);
      const seconds = (performance.now() - startedAt) / 1000;
      await wait(500);
      const sessionOf = await sessionsOfEvents(system);
      const latencies = receipts
        .map(([event, at]) => at - (sent.started.get(sessionOf.get(event) ?? "") ?? Number.NaN))
        .filter(Number.isFinite)
        .sort((a, b) => a - b);
      const count = sessions * endpoints;
      const usages = await Promise.all(system.processes.map((one) => one.usage()));
      return {
        perSecond: count / seconds,
        serverMs: (((await cpuSeconds(system)) - before.server) * 1000) / count,
        postgresMs: (postgresMicroseconds(folder) - before.postgres) / 1000 / count,
        ackMs: median(sent.took),
        p50Ms: median(latencies),
        p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
        rssMb: usages.reduce((sum, { rssBytes }) => sum + rssBytes, 0) / 1e6,
      };
    };
    for (const system of systems) await measure(system);
    const figures = new Map(systems.map((system) => [system, [] as Figures[]]));
    for (let round = 0; round < rounds; round++)
      for (const system of systems) figures.get(system)?.push(await measure(system));
    for (const [{ name }, all] of figures) console.log(`  ${name.padEnd(9)} ${described(all)}`);
    console.log(
      `  load ${loadavg()
        .map((one) => one.toFixed(1))
        .join(", ")}`,
    );
  });
}

function described(all: readonly Figures[]): string {
  const of = (what: keyof Figures) => median(all.map((one) => one[what]));
  return [
    `${of("perSecond").toFixed(0)} deliveries/s`,
    `server ${of("serverMs").toFixed(2)} + PostgreSQL ${of("postgresMs").toFixed(2)} ms CPU a delivery`,
    `answered p50 ${of("ackMs").toFixed(0)} ms`,
    `request to receiver p50 ${of("p50Ms").toFixed(0)} ms, p99 ${of("p99Ms").toFixed(0)} ms`,
    `${of("rssMb").toFixed(0)} MB`,
  ].join(", ");
}

async function sessionsOfEvents({ databaseUrl }: System): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ id: string; session_id: string }>(
    "select id, session_id from events",
  );
  await client.end();
  return new Map(rows.map((row) => [row.id, row.session_id]));
}
