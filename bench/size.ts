import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import pg from "pg";
import { callerOf } from "./support/new-partner.ts";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { cpuSeconds, type System } from "./support/system.ts";
import { countOf, received, withReceiver } from "./support/with-receiver.ts";

const atOnce = 8;

type Sizes = { tables: Map<string, { rows: number; bytes: number }>; walBytes: number };

/**
 * What a verification leaves in the database: rows and bytes per table with indexes, write-ahead log and
 * processor time. Whole verifications by a device with a test passport, one event to one endpoint each. `npm
 * run bench -- size [number]`, default 400. A quarter as many run first, so that the cost of first rows is
 * not counted.
 */
export async function run([given = "400"]: readonly string[] = []): Promise<void> {
  const count = Number(given);
  if (!Number.isInteger(count) || count < 8) throw new Error("the number must be 8 or more");
  await withReceiver(async ({ folder, receiver, start }) => {
    const root = resolve(import.meta.dirname, "..");
    const system = await start({ name: "size", root, roles: ["all"] });
    const client = new pg.Client({ connectionString: system.databaseUrl });
    await client.connect();
    const verifyAll = async (number: number) => {
      const arrived = await countOf(receiver);
      await verifyMany(system, number);
      await received(receiver, arrived, number);
    };
    const usedMs = async () => ({
      service: (await cpuSeconds(system)) * 1000,
      postgres: postgresMicroseconds(folder) / 1000,
    });
    await verifyAll(Math.ceil(count / 4));
    const [before, used] = [await measure(client), await usedMs()];
    await verifyAll(count);
    // The last deliveries are written down after their answers.
    await wait(2000);
    const { service, postgres } = await usedMs();
    tell(before, await measure(client), count);
    const [usage] = await Promise.all(system.processes.map((one) => one.usage()));
    console.log(
      `  processor time ${((service - used.service) / count).toFixed(1)} ms service, ${((postgres - used.postgres) / count).toFixed(1)} ms PostgreSQL; ${Math.round((usage?.rssBytes ?? 0) / 2 ** 20)} MiB`,
    );
    await client.end();
  });
}

async function verifyMany({ url, key }: System, count: number): Promise<void> {
  const document = testDocuments(new Date()).find(({ id }) => id === "passport-valid");
  if (document === undefined) throw new Error("there is no valid passport");
  const call = callerOf(url);
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const session = await call("/v1/sessions", key, {
        share_fields: {
          date_of_birth: { required: true, reason: "We must know that you are of age." },
          nationality_code: { required: false, reason: "Speeds up the tax form." },
        },
        client_reference_id: `order-${left}`,
        metadata: { channel: "mobile" },
      });
      const outcome = await runDevice({
        verificationUrl: session.verification_url ?? "",
        chip: virtualPassport(document),
      });
      if (outcome.kind !== "succeeded") throw new Error(`a verification ended with ${outcome.kind}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

async function measure(client: pg.Client): Promise<Sizes> {
  const { rows: names } = await client.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
  );
  const tables = new Map<string, { rows: number; bytes: number }>();
  for (const { name, bytes } of names) {
    const { rows } = await client.query<{ count: number }>(`select count(*)::integer as count from ${name}`);
    tables.set(name, { rows: rows[0]?.count ?? 0, bytes: Number(bytes) });
  }
  const { rows } = await client.query<{ bytes: string }>(
    "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes",
  );
  return { tables, walBytes: Number(rows[0]?.bytes) };
}

function tell(before: Sizes, after: Sizes, count: number): void {
  console.log(`\nA verification, by ${count} of them`);
  let [rows, bytes] = [0, 0];
  const grown = [...after.tables].map(([name, now]) => {
    const then = before.tables.get(name) ?? { rows: 0, bytes: 0 };
    return { name, rows: now.rows - then.rows, bytes: now.bytes - then.bytes };
  });
  for (const table of grown.sort((a, b) => b.bytes - a.bytes)) {
    if (table.bytes === 0 && table.rows === 0) continue;
    rows += table.rows;
    bytes += table.bytes;
    console.log(
      `  ${table.name.padEnd(26)} ${(table.rows / count).toFixed(2).padStart(6)} rows ${(table.bytes / count).toFixed(0).padStart(7)} bytes`,
    );
  }
  console.log(
    `  ${"together".padEnd(26)} ${(rows / count).toFixed(2).padStart(6)} rows ${(bytes / count).toFixed(0).padStart(7)} bytes`,
  );
  const wal = (after.walBytes - before.walBytes) / count;
  console.log(`  ${"write-ahead log".padEnd(38)} ${wal.toFixed(0).padStart(7)} bytes`);
}
