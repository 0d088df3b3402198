// Secrets that come from files, and a secret manager that replaces them while the service runs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import pg from "pg";
import { createTestDatabase, testPostgresUrl } from "../support/database.ts";
import { type AssayProcess, startAssay } from "../support/process.ts";
import { testRing } from "../support/test-ring.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-secrets-"));
const user = `assay_rotated_${process.pid}`;
const admin = new pg.Client({ connectionString: testPostgresUrl() });
await admin.connect();
const database = await createTestDatabase();
const secondKey = `2:${Buffer.alloc(32, 2).toString("base64")}`;

after(async () => {
  await database.drop();
  await admin.query(`drop role if exists ${user}`);
  await admin.end();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${text}\n`);
  return path;
}

function addressWith(password: string): string {
  const url = new URL(database.url);
  url.searchParams.set("user", user);
  url.searchParams.set("password", password);
  return url.href;
}

async function hangUp(service: AssayProcess): Promise<string> {
  const before = service.output().length;
  service.child.kill("SIGHUP");
  await until("the secrets are read again", () => service.output().slice(before).includes("reloaded"));
  return service.output().slice(before);
}

const metricsStatus = async ({ url }: AssayProcess, token: string) =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status;

test("secrets come from files, are read again at SIGHUP, and a bad file changes nothing", async () => {
  await admin.query(`create role ${user} login superuser password 'password-one'`);
  const service = await startAssay({
    DATA_DIR: folder,
    DATABASE_URL_FILE: write("database", addressWith("password-one")),
    SECRET_KEYS_FILE: write("ring", testRing),
    METRICS_TOKEN_FILE: write("metrics", "token-one"),
    SMTP_URL_FILE: write("smtp", "smtp://user:hidden@127.0.0.1:9"),
  });
  const connections = async () =>
    (await admin.query("select pid from pg_stat_activity where usename = $1", [user])).rows;
  const isReady = async () => (await fetch(`${service.url}/readyz`)).status === 200;
  assert.ok((await connections()).length > 0, "connects as the user of the file");
  assert.equal(await metricsStatus(service, "token-one"), 200);

  // A rotation: the new password and the new token are valid, the old connections are ended.
  await admin.query(`alter role ${user} password 'password-two'`);
  write("database", addressWith("password-two"));
  write("metrics", "token-two");
  write("ring", `${testRing},${secondKey}`);
  const said = await hangUp(service);
  assert.match(said, /"settings":"DATABASE_URL, SECRET_KEYS, METRICS_TOKEN"/);
  assert.doesNotMatch(service.output(), /password-|hidden|token-two|AgICAg/);
  assert.equal(await metricsStatus(service, "token-one"), 401);
  assert.equal(await metricsStatus(service, "token-two"), 200);
  await until("the process has both keys", async () => (await loadedKeys()).length === 2);

  // A signal while the database refuses connections, as during a rotation, does not end the service.
  await admin.query(`alter role ${user} nologin`);
  await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = $1", [user]);
  await hangUp(service);
  await until("the failure is logged", () => service.output().includes("key ring could not be reported"));
  await admin.query(`alter role ${user} login`);
  await until("the service is ready again, with the new password", isReady);
  assert.ok((await connections()).length > 0);

  write("database", "mysql://elsewhere");
  write("metrics", "token-three");
  assert.match(await hangUp(service), /could not be reloaded.*DATABASE_URL must be a URL/);
  assert.equal(await metricsStatus(service, "token-two"), 200, "no part of a bad set is taken over");
  assert.equal(await isReady(), true);
  assert.equal(await service.stop(), 0);
});

async function loadedKeys(): Promise<string[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ loaded: string[] }>("select loaded from key_ring_processes");
    return rows[0]?.loaded ?? [];
  } finally {
    await client.end();
  }
}
