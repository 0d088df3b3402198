// A burst that fans out: sessions are cancelled over HTTP as fast as possible, and each notifies twenty
// endpoints. Measures the time from a request until every endpoint has its delivery, with sending in the
// answering process and in a separate one.

import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { median } from "@assay/face/median";
import pg from "pg";
import { Pool } from "undici";
import { startEmbeddedPostgres } from "../../apps/server/src/platform/installation/postgres/embedded-postgres.ts";
import { createAuthority } from "../../apps/server/test/support/certificate.ts";
import { emptyDatabase } from "./database.ts";
import { password } from "./new-partner.ts";
import { postgresMicroseconds } from "./postgres-usage.ts";
import { ask, countOf, forked, received } from "./publishing.ts";
import { ServerProcess } from "./server-process.ts";

const rounds = 3;
const endpoints = 20;
/** Concurrent requests. */
export const connections = 16;

export type System = {
  name: string;
  url: string;
  key: string;
  databaseUrl: string;
  processes: readonly ServerProcess[];
};
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
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, env: process.env, log: () => {} });
  const authority = createAuthority();
  writeFileSync(join(folder, "ca.pem"), authority.certificate);
  const receiver = await forked("webhook-receiver.ts", keysOf(authority));
  const { port } = await ask<{ port: number }>(receiver, { ask: "ports" });
  const own = resolve(import.meta.dirname, "../..");
  const systems: System[] = [];
  try {
    const place = { folder, postgresUrl: postgres.adminUrl, hook: `https://127.0.0.1:${port}/hook` };
    systems.push(await startSystem({ ...place, name: "together", root: own, roles: ["all"] }));
    systems.push(await startSystem({ ...place, name: "apart", root: own, roles: ["api", "worker"] }));
    if (against !== null)
      systems.push(await startSystem({ ...place, name: "before", root: resolve(against), roles: ["all"] }));
    const measure = async (system: System): Promise<Figures> => {
      const ids = await createSessions(system, sessions);
      await ask(receiver, { ask: "record" });
      const before = { server: await cpuSeconds(system), postgres: postgresMicroseconds(folder) };
      const arrivedBefore = await countOf(receiver);
      const startedAt = performance.now();
      const sent = await cancelAll(system, ids);
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
  } finally {
    for (const { processes } of systems) for (const one of processes) await one.stop();
    receiver.kill("SIGKILL");
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
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

export function keysOf(authority: ReturnType<typeof createAuthority>): Record<string, string> {
  const { cert, key } = authority.issue(["127.0.0.1"]);
  return { CERT: cert, KEY: key };
}

export async function cpuSeconds(system: System): Promise<number> {
  const usages = await Promise.all(system.processes.map((one) => one.usage()));
  return usages.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0) / 1e6;
}

type Place = {
  name: string;
  root: string;
  folder: string;
  postgresUrl: string;
  hook: string;
  roles: readonly string[];
  endpoints?: number;
  /** Settings besides those that every benchmark has. */
  settings?: Record<string, string>;
};

export async function startSystem(place: Place): Promise<System> {
  const { name, root, folder, postgresUrl, hook, roles, settings } = place;
  const databaseUrl = await emptyDatabase(postgresUrl, name);
  const module = pathToFileURL(join(root, "bench/support/assay-server.ts"));
  const env = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: mkdtempSync(join(folder, name)),
    SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
    PORT: "0",
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
    ...settings,
  };
  const processes: ServerProcess[] = [];
  for (const role of roles) processes.push(await ServerProcess.start(module, env, [role]));
  const url = processes[0]?.url ?? "";
  const call = callerOf(url);
  const person = { name: "Bench", email: "bench@example.com", password };
  const { token } = await call("/v1/auth/sign-up/email", "", person);
  await call("/v1/auth/orgs", String(token), { name: "Bench", slug: "bench" });
  const { key } = await call("/v1/auth/api-keys", String(token), {
    name: "bench",
    scopes: ["sessions:read", "sessions:write", "webhooks:read", "webhooks:write"],
  });
  const { n, e } = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
  for (let at = 0; at < (place.endpoints ?? endpoints); at++) {
    const made = await call("/v1/webhooks/endpoints", String(key), { url: `${hook}?${at}` });
    const { id } = made.endpoint as { id: string };
    await call(`/v1/webhooks/endpoints/${id}/keys`, String(key), {
      key_id: "bench",
      algorithm: "RSA-OAEP-256",
      key_type: "RSA",
      jwk: { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: "bench" },
    });
  }
  return { name, url, key: String(key), databaseUrl, processes };
}

function callerOf(url: string) {
  return async (path: string, token: string, body: unknown) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as { data: Record<string, unknown> };
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer.data;
  };
}

export async function createSessions(system: System, count: number): Promise<string[]> {
  const call = callerOf(system.url);
  const ids: string[] = [];
  while (ids.length < count) {
    const made = await Promise.all(
      Array.from({ length: Math.min(10, count - ids.length) }, () => call("/v1/sessions", system.key, {})),
    );
    ids.push(...made.map(({ id }) => String(id)));
  }
  return ids;
}

/**
 * How cancellations arrive: over this many connections,
 * each after the previous answer or, with a rate, on schedule.
 */
export type CancelLoad = { connections: number; ratePerSecond: number | null };

/** When each was sent, by session, and how long the answers took. */
export async function cancelAll(
  system: System,
  ids: readonly string[],
  { connections: atOnce, ratePerSecond }: CancelLoad = { connections, ratePerSecond: null },
) {
  const pool = new Pool(system.url, { connections: atOnce, pipelining: 1 });
  const begin = performance.now();
  const started = new Map<string, number>();
  const took: number[] = [];
  const left = [...ids];
  const headers = { authorization: `Bearer ${system.key}`, "content-type": "application/json" };
  const canceller = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (ratePerSecond !== null)
        await wait(
          Math.max(0, begin + ((ids.length - left.length) * 1000) / ratePerSecond - performance.now()),
        );
      const at = performance.timeOrigin + performance.now();
      started.set(id, at);
      const { statusCode, body } = await pool.request({
        method: "POST",
        path: `/v1/sessions/${id}/cancel`,
        headers,
        body: "{}",
      });
      const text = await body.text();
      // On an overloaded machine, some wait longer than allowed.
      if (statusCode === 503) {
        left.push(id);
        await wait(1000);
        continue;
      }
      if (statusCode !== 204) throw new Error(`${system.name} answered ${statusCode}: ${text.slice(0, 300)}`);
      took.push(performance.timeOrigin + performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, canceller));
  await pool.close();
  return { started, took };
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
