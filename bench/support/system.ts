import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Pool } from "undici";
import { emptyDatabase } from "./database.ts";
import { callerOf, newOwner } from "./new-partner.ts";
import { ServerProcess } from "./server-process.ts";
import type { Ground } from "./with-postgres.ts";

/** The service of a checkout with its own database, and organizations whose endpoints are one receiver. */
export type System = {
  name: string;
  url: string;
  /** That of the first organization. */
  key: string;
  /** Each with a key of its organization. */
  endpoints: readonly { id: string; key: string }[];
  databaseUrl: string;
  processes: readonly ServerProcess[];
};

export type Wanted = {
  name: string;
  /** The checkout. */
  root: string;
  roles: readonly string[];
  organizations?: number;
  endpointsEach?: number;
  /** Besides those that every benchmark has. */
  settings?: Record<string, string>;
};

export async function startSystem(
  { folder, databaseUrl: adminUrl, env }: Ground,
  hook: string,
  { name, root, roles, organizations = 1, endpointsEach = 1, settings }: Wanted,
): Promise<System> {
  const databaseUrl = await emptyDatabase(adminUrl, name);
  const module = pathToFileURL(join(root, "bench/support/assay-server.ts"));
  const ownEnv = {
    ...env,
    DATABASE_URL: databaseUrl,
    DATA_DIR: mkdtempSync(join(folder, name)),
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
    ...settings,
  };
  const processes: ServerProcess[] = [];
  for (const role of roles) processes.push(await ServerProcess.start(module, ownEnv, [role]));
  const url = processes[0]?.url ?? "";
  const endpoints: { id: string; key: string }[] = [];
  for (let at = 0; at < organizations; at++) {
    const { send } = await newOwner(url, { name: "Bench", slug: `bench${at}` });
    const scopes = ["sessions:read", "sessions:write", "webhooks:read", "webhooks:write"];
    const { key = "" } = await send("/v1/auth/api-keys", { name: "bench", scopes });
    for (let count = 0; count < endpointsEach; count++)
      endpoints.push({ id: await newEndpoint(url, key, `${hook}?${count}`), key });
  }
  return { name, url, key: endpoints[0]?.key ?? "", endpoints, databaseUrl, processes };
}

async function newEndpoint(url: string, key: string, hook: string): Promise<string> {
  const call = callerOf(url);
  const created = await call<{ endpoint: { id: string } }>("/v1/webhooks/endpoints", key, { url: hook });
  const { id } = created.endpoint;
  const { n, e } = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
  await call(`/v1/webhooks/endpoints/${id}/keys`, key, {
    key_id: "bench",
    algorithm: "RSA-OAEP-256",
    key_type: "RSA",
    jwk: { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: "bench" },
  });
  return id;
}

export async function cpuSeconds({ processes }: System): Promise<number> {
  const usages = await Promise.all(processes.map((one) => one.usage()));
  return usages.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0) / 1e6;
}

export async function createSessions({ url, key }: System, count: number): Promise<string[]> {
  const call = callerOf(url);
  const ids: string[] = [];
  while (ids.length < count) {
    const made = await Promise.all(
      Array.from({ length: Math.min(10, count - ids.length) }, () => call("/v1/sessions", key, {})),
    );
    ids.push(...made.map(({ id = "" }) => id));
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
  { connections, ratePerSecond }: CancelLoad,
) {
  const pool = new Pool(system.url, { connections, pipelining: 1 });
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
  await Promise.all(Array.from({ length: connections }, canceller));
  await pool.close();
  return { started, took };
}
