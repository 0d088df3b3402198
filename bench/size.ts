import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import pg from "pg";
import { startEmbeddedPostgres } from "../apps/server/src/platform/installation/postgres/embedded-postgres.ts";
import { createAuthority } from "../apps/server/test/support/certificate.ts";
import { openReceiver, registration } from "../apps/server/test/support/receiver.ts";
import { newOwner } from "./support/new-partner.ts";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { ServerProcess } from "./support/server-process.ts";

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
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  const authority = createAuthority();
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.certificate);
  const receiver = await openReceiver(authority);
  const dataDir = join(folder, "database");
  const postgres = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {} });
  try {
    const server = await ServerProcess.start(new URL("./support/assay-server.ts", import.meta.url), {
      PORT: "0",
      DATA_DIR: join(folder, "service"),
      DATABASE_URL: postgres.adminUrl,
      SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      NODE_EXTRA_CA_CERTS: caFile,
    });
    try {
      const { send } = await newOwner(server.url, { name: "Bench", slug: "bench" });
      const { key } = await send("/v1/auth/api-keys", {
        name: "bench",
        scopes: ["sessions:write", "webhooks:write"],
      });
      const partner = partnerOf(server.url, key ?? "");
      const created = await partner("/v1/webhooks/endpoints", { url: receiver.url });
      const endpoint = created.endpoint as { id: string };
      await partner(`/v1/webhooks/endpoints/${endpoint.id}/keys`, registration("key-1"));
      const client = new pg.Client({ connectionString: postgres.adminUrl });
      await client.connect();
      const first = Math.ceil(count / 4);
      await verifyMany(partner, first);
      await receiver.until(first);
      const before = await measure(client);
      const used = { service: await server.usage(), postgres: postgresMicroseconds(dataDir) };
      await verifyMany(partner, count);
      await receiver.until(first + count);
      // The last deliveries are written down after their answers.
      await wait(2000);
      const service = await server.usage();
      const postgresMs = (postgresMicroseconds(dataDir) - used.postgres) / 1000 / count;
      const serviceMs = (service.cpuMicroseconds - used.service.cpuMicroseconds) / 1000 / count;
      tell(before, await measure(client), count);
      console.log(
        `  processor time ${serviceMs.toFixed(1)} ms service, ${postgresMs.toFixed(1)} ms PostgreSQL; ${Math.round(service.rssBytes / 2 ** 20)} MiB`,
      );
      await client.end();
    } finally {
      await server.stop();
    }
  } finally {
    await receiver.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Partner = (path: string, body: unknown) => Promise<Record<string, unknown>>;

function partnerOf(url: string, key: string): Partner {
  return async (path, body) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { data, error } = (await response.json()) as {
      data: Record<string, unknown>;
      error: { message: string } | null;
    };
    if (error !== null) throw new Error(error.message);
    return data;
  };
}

async function verifyMany(partner: Partner, count: number): Promise<void> {
  const document = testDocuments(new Date()).find(({ id }) => id === "passport-valid");
  if (document === undefined) throw new Error("there is no valid passport");
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const session = await partner("/v1/sessions", {
        share_fields: {
          date_of_birth: { required: true, reason: "We must know that you are of age." },
          nationality_code: { required: false, reason: "Speeds up the tax form." },
        },
        client_reference_id: `order-${left}`,
        metadata: { channel: "mobile" },
      });
      const outcome = await runDevice({
        verificationUrl: String(session.verification_url),
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
