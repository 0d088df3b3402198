import type { ApiKeyId } from "@assay/contract/ids";
import { median } from "@assay/face/median";
import { openDb } from "../apps/server/src/platform/db/db.ts";
import { sql } from "../apps/server/src/platform/db/sql.ts";
import { newRequestId } from "../apps/server/src/platform/http/standard-headers.ts";
import { systemClock } from "../apps/server/src/platform/kernel/clock.ts";
import { createLog } from "../apps/server/src/platform/lib/log.ts";
import { Metrics } from "../apps/server/src/platform/lib/metrics.ts";
import { ApiLog } from "../apps/server/src/tenants/api-keys/api-log.ts";
import { requestText } from "./support/load-order.ts";
import { LoadProcess } from "./support/load-process.ts";
import { callerOf } from "./support/new-partner.ts";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { ServerProcess } from "./support/server-process.ts";
import { newTwoKeys } from "./support/two-keys.ts";
import { type Ground, withPostgres } from "./support/with-postgres.ts";

const rowsOfBatch = 1000;
const batchesOfRound = 8;

/**
 * Cost of the API log: processor time of this process and PostgreSQL per entry, against that of service and
 * PostgreSQL per request that reads a session at full load. Rounds alternate, so a busy machine slows both;
 * medians are compared. `--rounds N` (25).
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const rounds = Number(options.includes("--rounds") ? options[options.indexOf("--rounds") + 1] : 25);
  await withPostgres((ground) => compare(ground, rounds));
}

async function compare({ folder, databaseUrl, env }: Ground, rounds: number): Promise<void> {
  const generator = new LoadProcess();
  const module = new URL("./support/assay-server.ts", import.meta.url);
  const server = await ServerProcess.start(module, env, ["api"]);
  const limits = { statementMs: 15_000, lockMs: 10_000, idleInTransactionMs: 30_000, connectMs: 10_000 };
  const db = openDb({
    url: () => databaseUrl,
    poolSize: 2,
    limits,
    onError: console.error,
    tracer: null,
    named: true,
  });
  try {
    const { assay: key } = await newTwoKeys(server.url, databaseUrl);
    const { id } = await callerOf(server.url)("/v1/sessions", key, {});
    const path = `/v1/sessions/${id}`;
    const request = requestText(`GET ${path}`, key);
    const read = async (seconds: number) => {
      const used = async () => (await server.usage()).cpuMicroseconds + postgresMicroseconds(folder);
      const before = await used();
      const load = { url: server.url, requests: [request], goodMs: Number.MAX_SAFE_INTEGER };
      const { good, late } = await generator.run({ ...load, connections: 12, ratePerSecond: null, seconds });
      return ((await used()) - before) / (good + late);
    };
    const { id: keyId } = await db.one<{ id: ApiKeyId }>(sql`select id from api_keys limit 1`);
    const log = createLog({ level: "error", write: console.error, now: () => new Date() });
    const apiLog = new ApiLog({ db, clock: systemClock, log, metrics: new Metrics() });
    const write = async () => {
      const [before, database] = [process.cpuUsage(), postgresMicroseconds(folder)];
      const answered = { keyId, method: "GET", url: path, status: 200, code: null, isReplayed: false };
      for (let row = 0; row < rowsOfBatch; row++)
        apiLog.add({ ...answered, requestId: newRequestId(), milliseconds: row % 50 });
      await apiLog.flush();
      const { user, system } = process.cpuUsage(before);
      return (user + system + postgresMicroseconds(folder) - database) / rowsOfBatch;
    };
    await read(8);
    const [reads, writes]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      reads.push(await read(3));
      for (let batch = 0; batch < batchesOfRound; batch++) writes.push(await write());
    }
    const [whole, part] = [median(reads), median(writes)];
    console.log(
      `A request takes ${whole.toFixed(0)} µs of processor time, its entry in the API log ${part.toFixed(1)} µs:`,
    );
    console.log(`${((part / whole) * 100).toFixed(1)} %`);
    const size = await db.one<{ bytes: number; rows: number }>(
      sql`select pg_total_relation_size('api_requests') as bytes, count(*) as rows from api_requests`,
    );
    console.log(`An entry takes ${(size.bytes / size.rows).toFixed(0)} bytes with its indexes.`);
  } finally {
    generator.stop();
    await server.stop();
    await db.close();
  }
}
