import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { median } from "@assay/face/median";
import { emptyDatabase } from "./support/database.ts";
import { answeredOf, requestText } from "./support/load-order.ts";
import { LoadProcess } from "./support/load-process.ts";
import { callerOf } from "./support/new-partner.ts";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { ServerProcess } from "./support/server-process.ts";
import { newTwoKeys } from "./support/two-keys.ts";
import { type Ground, withPostgres } from "./support/with-postgres.ts";

/** Shorter: the first rounds measure code that V8 has not optimized yet, of which the service has more. */
const warmSeconds = 15;
/** Requests at a rate are few. */
const loads = [
  { name: "32 connections", connections: 32, ratePerSecond: null, seconds: 3 },
  { name: "4 connections", connections: 4, ratePerSecond: null, seconds: 3 },
  { name: "50 requests a second", connections: 50, ratePerSecond: 50, seconds: 10 },
] as const;
type Load = { connections: number; ratePerSecond: number | null; seconds: number };
type Figures = { rate: number; service: number; postgres: number };
type Side = { name: string; server: ServerProcess; request: string };

/**
 * Reads and creates a session, and does the same with a bare server: node:http and stock `pg`, with the
 * service's statements, pool size and PostgreSQL. Compares the processor time of server and PostgreSQL
 * together. Rounds alternate, so a slow moment hits both; medians are compared. `--quick`: one round instead
 * of five (`--rounds N`), 3 s of warm-up instead of 15. `--against FOLDER` names a checkout of another
 * version to measure in turn, with its own database.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const isQuick = options.includes("--quick");
  const optionOf = (name: string) =>
    options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
  const rounds = Number(optionOf("--rounds") ?? (isQuick ? 1 : 5));
  const against = optionOf("--against");
  await withPostgres((ground) => compare(ground, { isQuick, rounds, against }));
}

type Options = { isQuick: boolean; rounds: number; against: string | undefined };

async function compare({ folder, databaseUrl, env }: Ground, { isQuick, rounds, against }: Options) {
  const ownEnv = { ...env, DATABASE_POOL_SIZE: "10", ORGANIZATION_MAX_OPEN_SESSIONS: "10000000" };
  const generator = new LoadProcess();
  const servers: ServerProcess[] = [];
  // Without jobs, whose statements would count while the bare server is measured.
  const start = async (module: string, root = join(import.meta.dirname, ".."), also = {}) => {
    const file = pathToFileURL(resolve(root, "bench/support", module));
    const server = await ServerProcess.start(file, { ...ownEnv, ...also }, ["api"]);
    servers.push(server);
    return server;
  };
  try {
    const [assay, bare] = [await start("assay-server.ts"), await start("bare-session-server.ts")];
    const keys = await newTwoKeys(assay.url, databaseUrl);
    const id = await createOne(assay.url, keys.assay);
    const callers = [
      { name: "bare", server: bare, key: keys.bare, id },
      { name: "assay", server: assay, key: keys.assay, id },
    ];
    if (against !== undefined) {
      const before = await emptyDatabase(databaseUrl, "before");
      const server = await start("assay-server.ts", against, { DATABASE_URL: before });
      const { assay: key } = await newTwoKeys(server.url, before);
      callers.push({ name: "before", server, key, id: await createOne(server.url, key) });
    }
    const measure = measurer(generator, folder);
    for (const what of ["Read a session", "Create a session"]) {
      const sides: Side[] = callers.map((one) => ({
        ...one,
        request: what.startsWith("Read")
          ? requestText(`GET /v1/sessions/${one.id}`, one.key)
          : requestText("POST /v1/sessions", one.key, session),
      }));
      for (const side of sides) await measure(side, { ...loads[0], seconds: isQuick ? 3 : warmSeconds });
      for (const load of loads) {
        const figures = sides.map(() => [] as Figures[]);
        for (let round = 0; round < rounds; round++)
          for (const [at, side] of sides.entries()) figures[at]?.push(await measure(side, load));
        report(`${what}, ${load.name}`, sides, figures);
      }
    }
  } finally {
    generator.stop();
    for (const server of servers) await server.stop();
  }
}

function measurer(generator: LoadProcess, dataDir: string): (side: Side, load: Load) => Promise<Figures> {
  return async ({ server, request }, { connections, ratePerSecond, seconds }) => {
    const used = async () => ({
      service: (await server.usage()).cpuMicroseconds,
      postgres: postgresMicroseconds(dataDir),
    });
    const before = await used();
    const load = { url: server.url, requests: [request], goodMs: Number.MAX_SAFE_INTEGER };
    const answered = answeredOf(await generator.run({ ...load, connections, ratePerSecond, seconds }));
    const after = await used();
    return {
      rate: answered / seconds,
      service: (after.service - before.service) / answered,
      postgres: (after.postgres - before.postgres) / answered,
    };
  };
}

function report(what: string, sides: readonly Side[], figures: readonly (readonly Figures[])[]): void {
  console.log(`\n${what}`);
  const totals = sides.map(({ name }, at) => {
    const of = (key: keyof Figures) => median((figures[at] ?? []).map((one) => one[key]));
    const total = of("service") + of("postgres");
    console.log(
      `  ${name.padEnd(6)} ${of("rate").toFixed(0).padStart(6)} a second, ${of("service").toFixed(0).padStart(5)} µs of the server + ${of("postgres").toFixed(0).padStart(5)} of PostgreSQL = ${total.toFixed(0).padStart(5)} µs of processor time`,
    );
    return total;
  });
  const [bare = 0, assay = 1, before] = totals;
  const toBefore =
    before === undefined ? "" : ` and takes ${(assay / before).toFixed(2)} of the time of before`;
  console.log(`  assay is ${(bare / assay).toFixed(2)} of bare${toBefore}`);
}

const session = {
  share_fields: {
    date_of_birth: { required: true, reason: "We must know that you are of age." },
    nationality_code: { required: false, reason: "Speeds up the tax form." },
  },
  client_reference_id: "order-7391",
  metadata: { channel: "mobile", shop: "berlin" },
};

async function createOne(url: string, key: string): Promise<string> {
  return (await callerOf(url)("/v1/sessions", key, session)).id ?? "";
}
