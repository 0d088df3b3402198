import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { systemClock } from "../../src/platform/kernel/clock.ts";
import { Api, createKey, createPartner, expectData } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { killServer } from "../support/postgres-processes.ts";
import { assay, assayHere, spawnAssay, startAssay } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-rotation-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`;
const [one, two] = [key("1", 1), key("2", 2)];
// Nothing is delivered in these tests; the address only has to be acceptable.
const reachable = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const laterClock = new URL("../support/later-clock.ts", import.meta.url).href;

type Partner = Awaited<ReturnType<typeof createPartner>>;

async function createEndpoint(partner: Partner): Promise<string> {
  const body = { url: `https://127.0.0.1/${randomUUID()}` };
  const answer = await partner.owner.api.post("/v1/webhooks/endpoints", body);
  return expectData<{ endpoint: { id: string } }>(answer, 201).endpoint.id;
}

/** Status of a request with an API key; 401 for an unknown key. */
async function statusOf(url: string, secret: string): Promise<number> {
  return (await new Api(url).as(secret).get("/v1/sessions")).status;
}

async function revealStatus(url: string, token: string, endpointId: string): Promise<number> {
  const path = `/v1/webhooks/endpoints/${endpointId}/signing-secret/reveal`;
  return (await new Api(url).as(token).post(path)).status;
}

async function ownDatabase(name: string) {
  const database = await createTestDatabase();
  after(() => database.drop());
  const env = { ...reachable, DATABASE_URL: database.url, DATA_DIR: join(folder, name) };
  const withRing = (...keys: string[]) => ({ ...env, SECRET_KEYS: keys.join(",") });
  /** Members of the ring within this process, where no test kills one or reads how one ends. */
  const startMember = (...keys: string[]) =>
    startTestService({
      databaseUrl: database.url,
      clock: systemClock,
      env: { ...reachable, SECRET_KEYS: keys.join(",") },
      machines: 1,
    });
  return { withRing, startMember };
}

test("rotating and retiring under a running service loses nothing that it stored before, between and after; a service follows a changed ring file by itself", async () => {
  const dataDir = join(folder, "file");
  const ringFile = join(dataDir, "secret-keys");
  after(() => killServer(dataDir));
  const env = { ...reachable, DATA_DIR: dataDir };
  const service = await startAssay(env);
  const partner = await createPartner(new Api(service.url));
  assert.equal(statSync(ringFile).mode & 0o077, 0, "only its owner reads the ring");
  const endpoints = [await createEndpoint(partner)];
  const secrets = [partner.key.secret];

  const rotated = await assayHere(["keys", "rotate"], env);
  assert.equal(rotated.code, 0, rotated.stdout + rotated.stderr);
  endpoints.push(await createEndpoint(partner));
  secrets.push((await createKey(partner.owner)).secret);
  for (const secret of secrets) assert.equal(await statusOf(service.url, secret), 200);

  const retired = await assayHere(["keys", "rotate", "--retire"], env);
  assert.match(retired.stdout, /Retired: 1/, retired.stdout + retired.stderr);
  assert.match(readFileSync(ringFile, "utf8"), /^2:[^,]+$/);
  endpoints.push(await createEndpoint(partner));
  secrets.push((await createKey(partner.owner)).secret);
  assert.equal(await service.stop(), 0);

  const next = await startAssay(env);
  for (const endpoint of endpoints)
    assert.equal(await revealStatus(next.url, partner.owner.token, endpoint), 200);
  for (const secret of secrets) assert.equal(await statusOf(next.url, secret), 200);

  // It follows a changed file by itself, and is not ready while the file lacks a key it needs.
  const whole = readFileSync(ringFile, "utf8");
  writeFileSync(ringFile, one);
  const ready = () => fetch(`${next.url}/readyz`);
  await until("not ready", async () => (await ready()).status === 503);
  assert.match(await (await ready()).text(), /no key \\"2\\"/);
  const late = await createPartner(new Api(next.url));
  writeFileSync(ringFile, whole);
  await until("ready again", async () => (await ready()).status === 200);
  for (const secret of [...secrets, late.key.secret]) assert.equal(await statusOf(next.url, secret), 200);
  assert.equal(await next.stop(), 0);
});

test("a new key in front of the ring seals nothing until the last process has it, in whatever order they restart", async () => {
  const { withRing, startMember } = await ownDatabase("rolling");
  const a = await startMember(one);
  const b = await startMember(one);
  const partner = await createPartner(new Api(a.url));

  await a.close();
  const newA = await startMember(two, one);
  // Used and made on the process with the new ring, they must go on working on the one that has the old ring.
  const onNewA = { ...partner, owner: { ...partner.owner, api: new Api(newA.url).as(partner.owner.token) } };
  const fresh = await createKey(onNewA.owner);
  const endpoint = await createEndpoint(onNewA);
  for (const secret of [partner.key.secret, fresh.secret]) {
    assert.equal(await statusOf(newA.url, secret), 200);
    assert.equal(await statusOf(b.url, secret), 200);
  }
  assert.equal(await revealStatus(b.url, partner.owner.token, endpoint), 200);

  await b.close();
  const newB = await startMember(two, one);
  const comesIntoUse = (line: string) => line.includes("now in use") && line.includes('"key":"2"');
  await until("the new key comes into use", () => [...newA.logLines, ...newB.logLines].some(comesIntoUse));
  for (const secret of [partner.key.secret, fresh.secret]) {
    assert.equal(await statusOf(newA.url, secret), 200);
    assert.equal(await statusOf(newB.url, secret), 200);
  }
  const retired = await assayHere(["keys", "rotate", "--retire"], withRing(two, one));
  assert.match(retired.stdout, /Retired: 1/, retired.stdout + retired.stderr);
  for (const secret of [partner.key.secret, fresh.secret])
    assert.equal(await statusOf(newA.url, secret), 200);

  await assert.rejects(startMember(one), /has no key "2"/);
  await newA.close();
  await newB.close();
  const last = await startMember(two);
  assert.equal(await revealStatus(last.url, partner.owner.token, endpoint), 200);
  for (const secret of [partner.key.secret, fresh.secret])
    assert.equal(await statusOf(last.url, secret), 200);
  await last.close();
});

test("with SECRET_KEYS the command leads through two steps, and names the process that has not seen the new key", async () => {
  const { withRing, startMember } = await ownDatabase("steps");
  const old = await startMember(one);
  const partner = await createPartner(new Api(old.url));
  const first = await assayHere(["keys", "rotate"], withRing(one));
  const added = /^1:[^,\n]+,2:[^,\n]+$/m.exec(first.stdout)?.[0];
  assert.ok(added !== undefined, first.stdout + first.stderr);

  const tooEarly = await assayHere(["keys", "rotate", "--wait", "1"], withRing(added));
  assert.equal(tooEarly.code, 1);
  assert.match(tooEarly.stderr, new RegExp(`did not load key 2 in time: process ${process.pid} on `));
  assert.equal(await statusOf(old.url, partner.key.secret), 200);

  await old.close();
  const service = await startMember(added);
  const second = await assayHere(["keys", "rotate"], withRing(added));
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /Current key: 2\. Resealed: [1-9]/);
  assert.equal(await statusOf(service.url, partner.key.secret), 200);
  const retired = await assayHere(["keys", "rotate", "--retire"], withRing(added));
  assert.match(retired.stdout, /Retired: 1\.\nSet SECRET_KEYS to:\n2:[^,\n]+\n/);
  assert.equal(await statusOf(service.url, partner.key.secret), 200);
  await service.close();
});

test("a process with a wrong ring does not start, and says which key is missing or another one", async () => {
  const { withRing, startMember } = await ownDatabase("wrong");
  const service = await startMember(one);
  await createPartner(new Api(service.url));
  const imposter = key("1", 9);
  for (const [ring, problem] of [
    [two, /no key "1", and data in the database needs it/],
    [imposter, /Key "1" of the ring differs from the key "1" of this database/],
  ] as const) {
    const wrong = spawnAssay(withRing(ring));
    await assert.rejects(wrong.listening, problem);
    assert.equal(wrong.child.exitCode, 1);
    assert.ok(!wrong.output().includes(ring.slice(2)), "no key material");
    assert.ok(!wrong.output().includes("    at "), "no stack for a mistake of the operator's");
  }
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  await service.close();
});

test("a killed process holds up a retirement until it counts as gone, not for ever", async () => {
  const { withRing } = await ownDatabase("killed");
  const service = await startAssay(withRing(one));
  const partner = await createPartner(new Api(service.url));
  assert.equal(await service.stop("SIGKILL"), null);
  const ring = withRing(two, one);
  const held = await assayHere(["keys", "rotate", "--wait", "0"], ring);
  assert.match(held.stderr, new RegExp(`process ${service.child.pid} on `), held.stdout);
  const minuteLater = { ...ring, NODE_OPTIONS: `--import=${laterClock}`, TEST_CLOCK_AHEAD_MS: "60000" };
  const rotated = await assay(["keys", "rotate", "--wait", "0"], minuteLater);
  assert.equal(rotated.code, 0, rotated.stderr);
  const next = await startAssay(ring);
  assert.equal(await statusOf(next.url, partner.key.secret), 200);
  assert.equal(await next.stop("SIGKILL"), null);
  const retired = await assay(["keys", "rotate", "--retire", "--wait", "0"], minuteLater);
  assert.match(retired.stdout, /Retired: 1/, retired.stderr);
});
