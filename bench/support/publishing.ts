// Events published one by one over HTTP, through to the receiver:
// the whole cost of a delivery, server and PostgreSQL.

import { type ChildProcess, fork } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { median } from "@assay/face/median";
import pg from "pg";
import { Pool } from "undici";
import { startEmbeddedPostgres } from "../../apps/server/src/platform/installation/postgres/embedded-postgres.ts";
import { createAuthority } from "../../apps/server/test/support/certificate.ts";
import { password } from "./new-partner.ts";
import { postgresMicroseconds } from "./postgres-usage.ts";
import { ServerProcess } from "./server-process.ts";

const rounds = 5;
/** Concurrent requests. */
const connections = 16;

type System = {
  name: string;
  url: string;
  /** Where events are published in turn, one per organization. */
  targets: readonly { path: string; headers: Record<string, string> }[];
  cpuSeconds: () => Promise<number>;
  forgetEvents: () => Promise<unknown>;
  stop: () => Promise<unknown>;
};
type Figures = { perSecond: number; serverMs: number; postgresMs: number; walBytes: number; p50Ms: number };

export async function publishing(
  events: number,
  against: string | null,
  { withWal = false, organizations = 40 } = {},
): Promise<void> {
  console.log(
    `\nEvents published one by one over HTTP, ${events} a round, ${connections} at once, ${organizations} organizations in turn with an endpoint each`,
  );
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, env: process.env, log: () => {} });
  const admin = new pg.Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  const authority = createAuthority();
  writeFileSync(join(folder, "ca.pem"), authority.certificate);
  const { cert, key } = authority.issue(["127.0.0.1"]);
  const receiver = await forked("webhook-receiver.ts", { CERT: cert, KEY: key });
  const { port } = await ask<{ port: number }>(receiver, { ask: "ports" });
  const start = async (name: string, root: string): Promise<System> => {
    await admin.query(`create database ${name}`);
    return startService({
      name,
      root,
      folder,
      postgresUrl: postgres.adminUrl,
      hook: `https://127.0.0.1:${port}/hook`,
      organizations,
    });
  };
  const systems: System[] = [];
  try {
    systems.push(await start("ours", resolve(import.meta.dirname, "../..")));
    if (against !== null) systems.push(await start("before", resolve(against)));
    const measure = async (system: System, count: number): Promise<Figures> => {
      // Test events are limited per minute, and this sends more, so those of the previous round are deleted.
      await system.forgetEvents();
      await ask(receiver, { ask: "record" });
      const before = await totals(system, folder, admin);
      const arrivedBefore = await countOf(receiver);
      const startedAt = performance.now();
      const sent = await publish(system, count);
      const receipts = await received(receiver, arrivedBefore, count);
      const seconds = (performance.now() - startedAt) / 1000;
      // Results are recorded a few milliseconds after the last arrival.
      await wait(500);
      const after = await totals(system, folder, admin);
      const latencies = receipts.flatMap(([id, at]) => (sent.has(id) ? [at - (sent.get(id) ?? 0)] : []));
      return {
        perSecond: count / seconds,
        serverMs: ((after.server - before.server) * 1000) / count,
        postgresMs: ((after.postgres - before.postgres) * 1000) / count,
        walBytes: (after.wal - before.wal) / count,
        p50Ms: median(latencies),
      };
    };
    await admin.query("checkpoint");
    // Warms code, connections and, after the checkpoint, the pages that are then no longer logged as a whole.
    for (const system of systems) await measure(system, Math.max(500, events / 2));
    const figures = new Map(systems.map((system) => [system.name, [] as Figures[]]));
    for (let round = 0; round < rounds; round++)
      for (const system of systems) figures.get(system.name)?.push(await measure(system, events));
    report(figures);
    if (withWal)
      for (const system of systems) {
        const { rows } = await admin.query<{ lsn: string }>("select pg_current_wal_insert_lsn() as lsn");
        await measure(system, events);
        await reportWal(
          postgres.adminUrl.replace(/\/assay\b/, `/${system.name}`),
          rows[0]?.lsn ?? "",
          events,
        );
      }
  } finally {
    for (const system of systems.reverse()) await system.stop();
    receiver.kill("SIGKILL");
    await admin.end();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(figures: ReadonlyMap<string, readonly Figures[]>): void {
  const of = (name: string, what: keyof Figures) => median((figures.get(name) ?? []).map((one) => one[what]));
  const cpuMs = (name: string) => of(name, "serverMs") + of(name, "postgresMs");
  for (const name of figures.keys()) {
    const parts = [
      `${of(name, "perSecond").toFixed(0)}/s`,
      `server ${of(name, "serverMs").toFixed(2)} + PostgreSQL ${of(name, "postgresMs").toFixed(2)} = ${cpuMs(name).toFixed(2)} ms CPU a delivery`,
      `${(of(name, "walBytes") / 1000).toFixed(1)} kB WAL`,
      `publish to receiver p50 ${of(name, "p50Ms").toFixed(0)} ms`,
    ];
    console.log(`  ${name.padEnd(8)} ${parts.join(", ")}`);
  }
  if (figures.has("before"))
    console.log(`  against the version before (goal 2) ${(cpuMs("before") / cpuMs("ours")).toFixed(2)}`);
}

/**
 * The contents of the WAL since `from`: per relation its records,
 * and the full page images (one per page after each checkpoint).
 */
async function reportWal(databaseUrl: string, from: string, events: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("create extension if not exists pg_walinspect");
  const { rows } = await client.query<{
    relation: string;
    record: string;
    count: string;
    bytes: string;
    images: string;
  }>(
    `select coalesce(c.relname, 'none') as relation, b.resource_manager || ' ' || b.record_type as record, count(*),
       sum(b.record_length - b.block_fpi_length) as bytes, sum(b.block_fpi_length) as images
     from (
       select start_lsn, resource_manager, record_type, record_length - fpi_length as record_length, 0 as block_fpi_length, null::oid as relfilenode
       from pg_get_wal_records_info($1, pg_current_wal_flush_lsn()) where block_ref is null or block_ref = ''
       union all
       select start_lsn, resource_manager, record_type, record_length, coalesce(block_fpi_length, 0), relfilenode
       from pg_get_wal_block_info($1, pg_current_wal_flush_lsn()) where block_id = 0) b
     left join pg_class c on c.relfilenode = b.relfilenode
     group by 1, 2 order by 4 desc limit 40`,
    [from],
  );
  console.log(`  WAL of ${databaseUrl.split("/").at(-1)?.split("?")[0]}, bytes an event (images apart):`);
  for (const row of rows)
    console.log(
      `    ${(Number(row.bytes) / events).toFixed(0).padStart(6)} ${(Number(row.images) / events).toFixed(0).padStart(6)} ${(Number(row.count) / events).toFixed(2).padStart(6)} ${row.record.padEnd(28)} ${row.relation}`,
    );
  await client.end();
}

/** Publishes this many events, and returns when each was sent, by event id. */
async function publish(system: System, count: number): Promise<Map<string, number>> {
  const pool = new Pool(system.url, { connections, pipelining: 1 });
  const sent = new Map<string, number>();
  let left = count;
  const publisher = async () => {
    while (left > 0) {
      left -= 1;
      const target = system.targets[left % system.targets.length];
      if (target === undefined) return;
      const at = performance.timeOrigin + performance.now();
      const { statusCode, body } = await pool.request({ method: "POST", ...target });
      const text = await body.text();
      if (statusCode !== 202) throw new Error(`${system.name} answered ${statusCode}: ${text.slice(0, 300)}`);
      sent.set((JSON.parse(text) as { data: { event: { id: string } } }).data.event.id, at);
    }
  };
  await Promise.all(Array.from({ length: connections }, publisher));
  await pool.close();
  return sent;
}

/** Waits for this many more than `before`, and returns when each arrived. */
export async function received(
  receiver: ChildProcess,
  before: number,
  count: number,
): Promise<[string, number][]> {
  const deadline = Date.now() + 60_000;
  while ((await countOf(receiver)) < before + count) {
    if (Date.now() > deadline) throw new Error(`${(await countOf(receiver)) - before} of ${count} arrived`);
    await wait(20);
  }
  return (await ask<{ receipts: [string, number][] }>(receiver, { ask: "receipts" })).receipts;
}

export async function countOf(receiver: ChildProcess): Promise<number> {
  return (await ask<{ count: number }>(receiver, { ask: "count" })).count;
}

async function totals(system: System, dataDir: string, admin: pg.Client) {
  const { rows } = await admin.query("select pg_current_wal_lsn() - '0/0' as wal");
  const postgres = postgresMicroseconds(dataDir) / 1e6;
  return { server: await system.cpuSeconds(), postgres, wal: Number(rows[0].wal) };
}

type Place = {
  name: string;
  root: string;
  folder: string;
  postgresUrl: string;
  hook: string;
  organizations: number;
};

async function startService({ name, root, folder, postgresUrl, hook, organizations }: Place) {
  const databaseUrl = postgresUrl.replace(/\/assay\b/, `/${name}`);
  const server = await ServerProcess.start(pathToFileURL(join(root, "bench/support/assay-server.ts")), {
    DATABASE_URL: databaseUrl,
    DATA_DIR: mkdtempSync(join(folder, name)),
    SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
    PORT: "0",
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
  });
  const call = async (path: string, token: string, body: unknown) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as { data: Record<string, unknown> };
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer.data;
  };
  const { n, e } = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
  const newPartner = async (at: number) => {
    const person = { name: "Bench", email: `bench${at}@example.com`, password };
    const { token } = await call("/v1/auth/sign-up/email", "", person);
    await call("/v1/auth/orgs", String(token), { name: "Bench", slug: `bench${at}` });
    const { key: secret } = await call("/v1/auth/api-keys", String(token), {
      name: "bench",
      scopes: ["webhooks:read", "webhooks:write"],
    });
    const { endpoint } = (await call("/v1/webhooks/endpoints", String(secret), { url: hook })) as {
      endpoint: { id: string };
    };
    await call(`/v1/webhooks/endpoints/${endpoint.id}/keys`, String(secret), {
      key_id: "bench",
      algorithm: "RSA-OAEP-256",
      key_type: "RSA",
      jwk: { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: "bench" },
    });
    return { endpoint, secret };
  };
  const partners = [];
  while (partners.length < organizations) partners.push(await newPartner(partners.length));
  return {
    name,
    url: server.url,
    targets: partners.map((one) => ({
      path: `/v1/webhooks/endpoints/${one.endpoint.id}/test`,
      headers: { authorization: `Bearer ${one.secret}` },
    })),
    cpuSeconds: async () => (await server.usage()).cpuMicroseconds / 1e6,
    forgetEvents: () => forgetEvents(databaseUrl),
    stop: () => server.stop(),
  };
}

async function forgetEvents(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("truncate events");
  await client.end();
}

export async function forked(file: string, env: Record<string, string>): Promise<ChildProcess> {
  const child = fork(new URL(file, import.meta.url), { env: { PATH: process.env.PATH ?? "", ...env } });
  await once(child, "message");
  return child;
}

export async function ask<T>(child: ChildProcess, message: object): Promise<T> {
  const answer = once(child, "message");
  child.send(message);
  const [value] = await answer;
  return value as T;
}
