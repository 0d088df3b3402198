import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "@assay/face/median";
import { startEmbeddedPostgres } from "../apps/server/src/installation/postgres/embedded-postgres.ts";
import { load } from "./support/load.ts";
import { newOwner } from "./support/new-partner.ts";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { ServerProcess } from "./support/server-process.ts";

const connections = 16;
const counts = [1, 4] as const;
const serverModule = new URL("./support/assay-server.ts", import.meta.url);

/**
 * What a session costs when four processes create them, against one, on the same machine and the same database: processor time of
 * the service and of PostgreSQL. `--seconds N` a round (5), `--rounds N` (5), `--warm N` seconds for each process before (15). Rounds alternate, so other work on the machine meets both.
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
    DATABASE_URL: postgres.url,
    SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
    PORT: "0",
    DATA_DIR: dataDir,
    // What a busy machine cannot serve in time would be refused.
    REQUEST_MAX_WAIT_MS: "10000",
    ORGANIZATION_MAX_OPEN_SESSIONS: "10000000",
    FACE_WORKERS: "1",
  };
  const servers: ServerProcess[] = [];
  try {
    for (let count = 0; count < Math.max(...counts); count++)
      servers.push(await ServerProcess.start(serverModule, env, ["api"]));
    const { send } = await newOwner(servers[0]?.url ?? "", { name: "Bench", slug: "bench" });
    const { key } = await send("/v1/auth/api-keys", { name: "bench", scopes: ["sessions:write"] });
    const cpu = new Map(
      counts.map((count) => [
        count,
        { service: [] as number[], postgres: [] as number[], rate: [] as number[] },
      ]),
    );
    const request = {
      method: "POST" as const,
      path: "/v1/sessions",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: () => JSON.stringify({ client_reference_id: "order-7391", metadata: { channel: "mobile" } }),
    };
    const round = async (count: number, lasting: number) => {
      const taking = servers.slice(0, count);
      const used = async () => {
        const each = await Promise.all(taking.map((server) => server.usage()));
        return each.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0);
      };
      const [service, database] = [await used(), postgresMicroseconds(dataDir)];
      const loads = taking.map(({ url }) =>
        load(url, request, { connections: connections / count, seconds: lasting }),
      );
      const rate = (await Promise.all(loads)).reduce(
        (sum, { requestsPerSecond }) => sum + requestsPerSecond,
        0,
      );
      const sessions = rate * lasting;
      return {
        service: ((await used()) - service) / sessions,
        postgres: (postgresMicroseconds(dataDir) - database) / sessions,
        rate,
      };
    };
    // With four each sees a quarter of the requests, and a process that has seen few may still run code that was not optimized.
    for (const { url } of servers) await load(url, request, { connections, seconds: warmSeconds });
    for (let number = 0; number < rounds; number++)
      for (const count of counts) {
        const measured = await round(count, seconds);
        for (const name of ["service", "postgres", "rate"] as const)
          cpu.get(count)?.[name].push(measured[name]);
      }
    tell(cpu, rounds, seconds);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function tell(
  cpu: ReadonlyMap<number, { service: number[]; postgres: number[]; rate: number[] }>,
  rounds: number,
  seconds: number,
): void {
  console.log(
    `\nCreate a session, ${connections} connections in all, medians of ${rounds} rounds of ${seconds} s each`,
  );
  const totals: number[] = [];
  for (const [count, { service, postgres, rate }] of cpu) {
    const total = median(service.map((one, at) => one + (postgres[at] ?? 0)));
    totals.push(total);
    console.log(
      `  ${count} process${count === 1 ? "  " : "es"}  ${median(rate).toFixed(0).padStart(5)} a second  ${median(service).toFixed(0).padStart(5)} µs service  ${median(postgres).toFixed(0).padStart(5)} µs PostgreSQL  ${total.toFixed(0).padStart(5)} µs together`,
    );
  }
  const [one = 1, four = 0] = totals;
  console.log(`  ratio        ${(four / one).toFixed(2)} (goal at most 1.1)`);
}
