import { type LoadReport, requestText } from "./support/load-order.ts";
import { LoadProcess } from "./support/load-process.ts";
import { newOwner } from "./support/new-partner.ts";
import { ServerProcess } from "./support/server-process.ts";
import { withPostgres } from "./support/with-postgres.ts";

/** An answer that comes later is of no use to a person who waits for a page. */
const goodMs = 1000;
const capacityConnections = 32;
const floodConnections = 1000;
/** In 15 s 750 requests: of fewer, the eight slowest that make the p99 are chance. */
const quietPerSecond = 50;
/** An attacker floods from another machine. */
const floodGivesWay = 10;
const manyTenants = 20;

/**
 * Creates sessions at one, two and four times the capacity, which a closed loop measures first. Reports how
 * many are answered in time (goodput), and the effect on a quiet tenant. `--quick`: rounds of 5 s instead of
 * 15. `--only one|many`.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const seconds = options.includes("--quick") ? 5 : 15;
  const only = options[options.indexOf("--only") + 1];
  await withPostgres(async ({ env }) => {
    const server = await ServerProcess.start(new URL("./support/assay-server.ts", import.meta.url), env);
    const [flood, quiet] = [new LoadProcess(floodGivesWay), new LoadProcess()];
    try {
      let made = 0;
      // New ones for each round: tenants of the round before would be near their limit of open sessions.
      const newKeys = async (count: number) => {
        const keys: string[] = [];
        for (let i = 0; i < count; i++) keys.push(await createTenant(server.url, made++));
        return keys;
      };
      const [quietKey = ""] = await newKeys(1);
      const bench = { server, flood, quiet, seconds, quietKey, newKeys };
      await warmUp(bench, await newKeys(manyTenants));
      if (only !== "many") await measure(bench, "one tenant", 1, [1, 2, 4]);
      if (only !== "one") await measure(bench, `${manyTenants} tenants`, manyTenants, [4]);
    } finally {
      flood.stop();
      quiet.stop();
      await server.stop();
    }
  });
}

type Bench = {
  server: ServerProcess;
  flood: LoadProcess;
  quiet: LoadProcess;
  seconds: number;
  quietKey: string;
  newKeys: (count: number) => Promise<string[]>;
};

async function measure(bench: Bench, who: string, tenants: number, loads: readonly number[]): Promise<void> {
  const { server, flood, quiet, seconds, quietKey, newKeys } = bench;
  const order = { url: server.url, seconds, goodMs };
  const requests = async () => (await newKeys(tenants)).map(createSession);
  const quietOrder = {
    ...order,
    requests: [createSession(quietKey)],
    ratePerSecond: quietPerSecond,
    connections: 50,
  };
  const alone = await quiet.run(quietOrder);
  // Beside the quiet tenant, as in all rounds that follow: alone, a caller gets more places.
  const atCapacity = { requests: await requests(), ratePerSecond: null, connections: capacityConnections };
  const [closed] = await Promise.all([flood.run({ ...order, ...atCapacity }), quiet.run(quietOrder)]);
  const capacity = closed.good / seconds;
  console.log(`\nCreate a session, flood of ${who}, rounds of ${seconds} s`);
  console.log(
    `  capacity          ${capacity.toFixed(0)} a second (closed loop, ${capacityConnections} connections), p99 ${show(closed.p99Ms)}, ${closed.refused} refused`,
  );
  console.log(`  quiet, alone      ${showQuiet(alone)}`);
  let first: number | null = null;
  for (const load of loads) {
    const flooding = {
      requests: await requests(),
      ratePerSecond: capacity * load,
      connections: floodConnections,
    };
    const before = await server.usage();
    const [report, beside] = await Promise.all([flood.run({ ...order, ...flooding }), quiet.run(quietOrder)]);
    const after = await server.usage();
    const goodput = report.good / seconds;
    first ??= loads.length > 1 ? goodput : capacity;
    const cpu = (after.cpuMicroseconds - before.cpuMicroseconds) / 1e6 / seconds;
    console.log(
      `  ${load} x offered       ${goodput.toFixed(0)} good a second, ratio ${(goodput / first).toFixed(2)}; ${showFlood(report)}; processor of the service ${cpu.toFixed(2)}, of the generator ${(report.cpuSeconds / seconds).toFixed(2)}`,
    );
    console.log(
      `    quiet, beside   ${showQuiet(beside)}; p99 ${((beside.p99Ms ?? 0) / (alone.p99Ms ?? 1)).toFixed(2)} times alone`,
    );
  }
}

function show(ms: number | null): string {
  return ms === null ? "–" : `${ms.toFixed(1)} ms`;
}

function showFlood({
  p50Ms,
  p99Ms,
  refused,
  refusedP50Ms,
  unsent,
  late,
  failed,
  seconds,
}: LoadReport): string {
  return `p50 ${show(p50Ms)}, p99 ${show(p99Ms)}; ${(refused / seconds).toFixed(0)} refused a second in ${show(refusedP50Ms)}, ${late} late, ${unsent} not sent, ${failed} failed`;
}

function showQuiet({ p50Ms, p99Ms, good, refused, late, failed }: LoadReport): string {
  return `p50 ${show(p50Ms)}, p99 ${show(p99Ms)}, ${good} good, ${late} late, ${refused + failed} not served`;
}

async function warmUp({ server, flood }: Bench, keys: readonly string[]): Promise<void> {
  const requests = keys.map(createSession);
  await flood.run({
    url: server.url,
    requests,
    seconds: 3,
    goodMs,
    ratePerSecond: null,
    connections: capacityConnections,
  });
}

function createSession(key: string): string {
  return requestText("POST /v1/sessions", key, {
    share_fields: { date_of_birth: { required: true, reason: "We must know that you are of age." } },
    client_reference_id: "order-7391",
  });
}

async function createTenant(url: string, number: number): Promise<string> {
  const { send } = await newOwner(url, { name: "Bench", slug: `bench-${number}` });
  return (await send("/v1/auth/api-keys", { name: "bench", scopes: ["sessions:write"] })).key ?? "";
}
