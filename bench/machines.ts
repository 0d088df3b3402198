import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "@assay/face/median";
import { startEmbeddedPostgres } from "../apps/server/src/platform/installation/postgres/embedded-postgres.ts";
import { load } from "./support/load.ts";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { ServerProcess } from "./support/server-process.ts";
import { newTwoKeys } from "./support/two-keys.ts";

const connections = 16;
const counts = [1, 4] as const;
const modules = {
  assay: new URL("./support/assay-server.ts", import.meta.url),
  bare: new URL("./support/bare-session-server.ts", import.meta.url),
};
type Kind = keyof typeof modules;
type Figures = { service: number; postgres: number; rate: number };

/**
 * Cost of a session when four processes create them, against one, on the same machine and database: processor
 * time of service and PostgreSQL. The bare ceiling is measured too, because on few cores four processes
 * always cost more than one: caches hold less of each, and PostgreSQL is woken more often. `--seconds N` per
 * round (5), `--rounds N` (5), `--warm N` seconds per process (15). Rounds alternate, so other load affects
 * all.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const numberOf = (name: string, usual: number) =>
    options.includes(name) ? Number(options[options.indexOf(name) + 1]) : usual;
  const seconds = numberOf("--seconds", 5);
  const rounds = numberOf("--rounds", 5);
  const warmSeconds = numberOf("--warm", 15);
  const dataDir = mkdtempSync(join(tmpdir(), "assay-bench-"));
  const postgres = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {} });
  const env = {
    DATABASE_URL: postgres.adminUrl,
    SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
    PORT: "0",
    DATA_DIR: dataDir,
    ORGANIZATION_MAX_OPEN_SESSIONS: "10000000",
    FACE_WORKERS: "1",
  };
  const servers: Record<Kind, ServerProcess[]> = { assay: [], bare: [] };
  try {
    for (const kind of ["assay", "bare"] as const)
      for (let count = 0; count < Math.max(...counts); count++)
        servers[kind].push(await ServerProcess.start(modules[kind], env, ["api"]));
    const keys = await newTwoKeys(servers.assay[0]?.url ?? "", postgres.adminUrl);
    const measure = measurer(keys, () => postgresMicroseconds(dataDir));
    // With four each gets a quarter of the requests and may still run code that is not optimized.
    for (const kind of ["assay", "bare"] as const)
      for (const server of servers[kind]) await measure(kind, [server], warmSeconds);
    const figures = { assay: counts.map(() => [] as Figures[]), bare: counts.map(() => [] as Figures[]) };
    for (let number = 0; number < rounds; number++)
      for (const kind of ["assay", "bare"] as const)
        for (const [at, count] of counts.entries())
          figures[kind][at]?.push(await measure(kind, servers[kind].slice(0, count), seconds));
    console.log(
      `\nCreate a session, ${connections} connections in all, medians of ${rounds} rounds of ${seconds} s each`,
    );
    const bare = tell("bare node:http", figures.bare);
    const ours = tell("assay", figures.assay);
    console.log(`  assay by the ceiling ${(ours / bare).toFixed(2)} (goal at most 1.1)`);
  } finally {
    await Promise.all([...servers.assay, ...servers.bare].map((server) => server.stop()));
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function measurer(
  keys: Record<Kind, string>,
  postgresUsed: () => number,
): (kind: Kind, taking: readonly ServerProcess[], seconds: number) => Promise<Figures> {
  return async (kind, taking, seconds) => {
    const request = {
      method: "POST" as const,
      path: "/v1/sessions",
      headers: { authorization: `Bearer ${keys[kind]}`, "content-type": "application/json" },
      body: () => JSON.stringify({ client_reference_id: "order-7391", metadata: { channel: "mobile" } }),
    };
    const used = async () => {
      const each = await Promise.all(taking.map((one) => one.usage()));
      return each.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0);
    };
    const [service, database] = [await used(), postgresUsed()];
    const loads = taking.map(({ url }) =>
      load(url, request, { connections: connections / taking.length, seconds }),
    );
    const rate = (await Promise.all(loads)).reduce((sum, one) => sum + one.requestsPerSecond, 0);
    const sessions = rate * seconds;
    return {
      service: ((await used()) - service) / sessions,
      postgres: (postgresUsed() - database) / sessions,
      rate,
    };
  };
}

/** By how much a session costs more with the larger number of processes. */
function tell(name: string, figures: readonly (readonly Figures[])[]): number {
  const totals = figures.map((each, at) => {
    const of = (what: (one: Figures) => number) => median(each.map(what));
    const total = of(({ service, postgres }) => service + postgres);
    console.log(
      `  ${name.padEnd(15)} ${counts[at]}  ${of(({ rate }) => rate)
        .toFixed(0)
        .padStart(5)} a second  ${of(({ service }) => service)
        .toFixed(0)
        .padStart(5)} µs service  ${of(({ postgres }) => postgres)
        .toFixed(0)
        .padStart(5)} µs PostgreSQL  ${total.toFixed(0).padStart(5)} µs together`,
    );
    return total;
  });
  const [one = 1, four = 0] = totals;
  console.log(`  ${name.padEnd(15)} four processes against one ${(four / one).toFixed(2)}`);
  return four / one;
}
