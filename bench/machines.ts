import { median } from "@assay/face/median";
import { answeredOf, requestText } from "./support/load-order.ts";
import { LoadProcess } from "./support/load-process.ts";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { ServerProcess } from "./support/server-process.ts";
import { newTwoKeys } from "./support/two-keys.ts";
import { withPostgres } from "./support/with-postgres.ts";

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
  await withPostgres(async ({ folder, databaseUrl, env }) => {
    const ownEnv = { ...env, ORGANIZATION_MAX_OPEN_SESSIONS: "10000000", FACE_WORKERS: "1" };
    const servers: Record<Kind, ServerProcess[]> = { assay: [], bare: [] };
    const generators = Array.from({ length: Math.max(...counts) }, () => new LoadProcess());
    try {
      for (const kind of ["assay", "bare"] as const)
        for (let count = 0; count < Math.max(...counts); count++)
          servers[kind].push(await ServerProcess.start(modules[kind], ownEnv, ["api"]));
      const keys = await newTwoKeys(servers.assay[0]?.url ?? "", databaseUrl);
      const measure = measurer(keys, generators, () => postgresMicroseconds(folder));
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
      for (const generator of generators) generator.stop();
      await Promise.all([...servers.assay, ...servers.bare].map((server) => server.stop()));
    }
  });
}

function measurer(
  keys: Record<Kind, string>,
  generators: readonly LoadProcess[],
  postgresUsed: () => number,
): (kind: Kind, taking: readonly ServerProcess[], seconds: number) => Promise<Figures> {
  return async (kind, taking, seconds) => {
    const session = { client_reference_id: "order-7391", metadata: { channel: "mobile" } };
    const requests = [requestText("POST /v1/sessions", keys[kind], session)];
    const used = async () => {
      const each = await Promise.all(taking.map((one) => one.usage()));
      return each.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0);
    };
    const [service, database] = [await used(), postgresUsed()];
    const each = { requests, ratePerSecond: null, seconds, goodMs: Number.MAX_SAFE_INTEGER };
    const reports = await Promise.all(
      taking.map(({ url }, at) =>
        generators[at]?.run({ ...each, url, connections: connections / taking.length }),
      ),
    );
    const sessions = reports.reduce((sum, report) => sum + (report ? answeredOf(report) : 0), 0);
    return {
      service: ((await used()) - service) / sessions,
      postgres: (postgresUsed() - database) / sessions,
      rate: sessions / seconds,
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
