import assert from "node:assert/strict";
import { once } from "node:events";
import test, { after } from "node:test";
import { verifySubprotocol } from "@assay/contract/verify-protocol";
import pg from "pg";
import { type Answer, type Api, createPartner, expectData, expectError } from "../support/api.ts";
import { untilBlocked } from "../support/database.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { expectRefusal, openConnection, sendRaw } from "../support/raw-http.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createSession } from "../support/sessions.ts";
import { until as eventually } from "../support/until.ts";

const metricsToken = "scraper";
/** As few places as there can be, of which one caller gets two when it is alone, and one beside others. */
const env = { REQUEST_MAX_IN_FLIGHT: "3", METRICS_TOKEN: metricsToken };
const newKey = { name: "one of many", scopes: [] };

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  after(() => client.end());
  return client;
}

/** What `/metrics` says at this moment. It is itself never held up. */
async function gauge(service: TestService, name: string): Promise<number> {
  const { text } = await service.api.as(metricsToken).get("/metrics");
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** Waits until the service says so of itself. */
async function until(service: TestService, expected: { placed?: number; waiting?: number }): Promise<void> {
  for (const [name, value] of Object.entries(expected))
    await eventually(
      `${name} is ${value}`,
      async () => (await gauge(service, `assay_admission_${name}`)) === value,
    );
}

/** Requests under way, with the names in the order in which their answers came. */
function startRequests(requests: Record<string, () => Promise<Answer>>) {
  const order: string[] = [];
  const answers = Object.entries(requests).map(async ([name, send]) => {
    const answer = await send();
    order.push(name);
    return answer;
  });
  return { order, answers };
}

function many(count: number, name: string, send: () => Promise<Answer>) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name} ${i}`, send]));
}

async function probeAll(service: TestService): Promise<void> {
  assert.equal((await service.api.get("/healthz")).status, 200);
  assert.equal((await service.api.get("/readyz")).status, 200);
  assert.equal((await service.api.as(metricsToken).get("/metrics")).status, 200);
}

/** It has been here before, so that it is known whose key it is. */
async function knownPartner(service: TestService) {
  const partner = await createPartner(service.api);
  expectData(await partner.api.get("/v1/sessions"));
  return partner;
}

const dns = await startDnsServer();
// Places are those of a process, and so is everything in this file: with two there are twice as many.
const patient = await startTestService({
  machines: 1,
  env: { ...env, REQUEST_MAX_WAIT_MS: "10000", DNS_RESOLVERS: dns.address },
  role: "api",
});
const flood = await knownPartner(patient);
const quiet = await knownPartner(patient);
const admin = await connect(patient.databaseUrl);

test("a tenant whose requests are stuck and pile up keeps no place from another", async () => {
  await admin.query("begin");
  // Whoever adds a key to this organization waits for its row.
  await admin.query("select from organizations where id = $1 for update", [flood.organizationId]);
  const { order, answers } = startRequests(
    many(12, "flood", () => flood.owner.api.post("/v1/auth/api-keys", newKey)),
  );
  await until(patient, { placed: 2, waiting: 10 });
  for (let i = 0; i < 5; i++) expectData(await quiet.api.post("/v1/sessions", {}), 201);
  await probeAll(patient);
  assert.deepEqual(order, []);
  await admin.query("rollback");
  for (const answer of answers) expectData(await answer, 201);
  await until(patient, { placed: 0, waiting: 0 });
});

/** What `work` gives, after nobody got at the sessions while it ran. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  await admin.query("begin");
  await admin.query("lock table sessions in access exclusive mode");
  try {
    return await work();
  } finally {
    await admin.query("rollback");
  }
}

test("when all places are taken, a quiet tenant is served before the queue of one that floods", async () => {
  const { flooding, beside } = await whileLocked(async () => {
    const flooding = Array.from({ length: 40 }, () => createSession(flood.api));
    await until(patient, { placed: 2, waiting: 38 });
    const beside = [quiet.owner.api, quiet.api].map((api) => createSession(api));
    await until(patient, { placed: 3, waiting: 39 });
    await probeAll(patient);
    return { flooding, beside };
  });
  const ids = await Promise.all([...flooding, ...beside]);
  const last = new Set<string>(ids.slice(flooding.length));
  // In the order in which the database worked for them: a busy client may see their answers in another one.
  const served = await admin.query<{ id: string }>(
    "select id from sessions where id = any($1) order by xmin::text::bigint",
    [ids],
  );
  const order = served.rows.map(({ id }) => (last.has(id) ? "quiet" : "flood"));
  assert.equal(order.length, 42);
  assert.ok(order.lastIndexOf("quiet") < 20, order.join(", "));
  // An answer that has arrived may still hold its place.
  await until(patient, { placed: 0, waiting: 0 });
});

test("a client that gives up while it waits leaves the queue, and one that is worked for keeps its place until the work ends", async () => {
  await whileLocked(async () => {
    const giveUp = new AbortController();
    const sent = Array.from({ length: 10 }, () =>
      fetch(`${patient.url}/v1/sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${flood.key.secret}` },
        signal: giveUp.signal,
      }),
    );
    await until(patient, { placed: 2, waiting: 8 });
    await untilBlocked(patient.core.db, 2);
    giveUp.abort();
    assert.ok((await Promise.allSettled(sent)).every(({ status }) => status === "rejected"));
    await until(patient, { waiting: 0 });
    assert.equal(await gauge(patient, "assay_admission_placed"), 2, "the database still works for them");
  });
  await until(patient, { placed: 0 });
  expectData(await flood.api.post("/v1/sessions", {}), 201);
});

test("a request that waits for the outside world lends its place to others", async () => {
  const { api } = flood.owner;
  const { challenge_id } = expectData(
    await api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: "shop.example" }),
    201,
  );
  dns.delayMs = 500;
  const checked = api.post("/v1/auth/orgs/domains/challenges/dns/verify", { challenge_id });
  await eventually("the resolver is asked", () => dns.queries.length > 0);
  assert.equal(await gauge(patient, "assay_admission_placed"), 0);
  expectError(await checked, 409, "DNS_NOT_PROPAGATED");
  dns.delayMs = 0;
  await until(patient, { placed: 0 });
});

test("requests that end in an error give their places back", async () => {
  for (let i = 0; i < 8; i++) {
    expectError(await patient.api.get("/v1/nothing"), 404, "NOT_FOUND");
    expectError(await patient.api.as("kk_wrong").get("/v1/sessions"), 401, "UNAUTHORIZED");
    expectError(await quiet.api.post("/v1/sessions", { odd: true }), 400, "BAD_REQUEST");
    expectError(await quiet.api.call("POST", "/v1/sessions", { raw: "{" }), 400, "BAD_REQUEST");
  }
  await until(patient, { placed: 0, waiting: 0 });
});

test("a stream and a socket that stay open hold no place", async () => {
  const id = await createSession(quiet.api);
  const giveUp = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: 6 }, () =>
      fetch(`${patient.url}/v1/verify/session/${id}/events`, { signal: giveUp.signal }),
    ),
  );
  const sockets = Array.from(
    { length: 6 },
    () => new WebSocket(`${patient.url.replace("http", "ws")}/v1/verify/session/${id}`, verifySubprotocol),
  );
  await Promise.all(sockets.map((socket) => once(socket, "open")));
  await until(patient, { placed: 0, waiting: 0 });
  expectData(await quiet.api.post("/v1/sessions", {}), 201);
  for (const { status } of streams) assert.equal(status, 200);
  giveUp.abort();
  for (const socket of sockets) socket.close();
});

const hasty = await startTestService({
  machines: 1,
  env: { ...env, REQUEST_MAX_WAIT_MS: "10" },
  role: "api",
});
const first = await knownPartner(hasty);
const second = await knownPartner(hasty);
const third = await knownPartner(hasty);
const session = await createSession(first.api);
const hastyAdmin = await connect(hasty.databaseUrl);

/** Runs `work` while every place is taken by requests that wait for the database. */
async function whileFull(work: () => Promise<void>): Promise<void> {
  await hastyAdmin.query("begin");
  await hastyAdmin.query("lock table sessions in access exclusive mode");
  const read = (api: Api) => () => api.get(`/v1/sessions/${session}`);
  const held: Promise<Answer>[] = [];
  // One after the other, since each must get its place at once.
  for (const [placed, api] of [first.api, second.api, third.api].entries()) {
    held.push(read(api)());
    await until(hasty, { placed: placed + 1 });
  }
  try {
    await work();
  } finally {
    await hastyAdmin.query("rollback");
    await Promise.all(held);
  }
  await until(hasty, { placed: 0, waiting: 0 });
}

test("what finds no place is refused with 503 in the envelope, with Retry-After and a request id", async () => {
  await whileFull(async () => {
    const answer = await second.api.call("POST", "/v1/sessions", {
      body: { client_reference_id: "x".repeat(5000) },
      headers: { "x-request-id": "my-own-request" },
    });
    expectError(answer, 503, "SERVICE_UNAVAILABLE");
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-3]$/);
    assert.equal(answer.headers.get("x-request-id"), "my-own-request");
    for (const name of ["x-content-type-options", "content-security-policy", "cache-control"])
      assert.ok(answer.headers.get(name), name);
    const list = await first.api.get("/v1/sessions", { limit: 7 });
    expectError(list, 503, "SERVICE_UNAVAILABLE");
    assert.deepEqual(list.body.pagination, { limit: 7, has_more: false, next_cursor: null });
    assert.match(list.headers.get("x-request-id") ?? "", /^req_/);
    expectError(await hasty.api.get(`/v1/verify/session/${session}/status`), 503, "SERVICE_UNAVAILABLE");
  });
  expectData(await first.api.get("/v1/sessions"));
});

test("probes answer while all places are taken, and readiness says that it is overloaded without going away", async () => {
  await whileFull(async () => {
    expectError(await first.api.get("/v1/sessions"), 503, "SERVICE_UNAVAILABLE");
    await probeAll(hasty);
    const ready = await hasty.api.get("/readyz");
    assert.deepEqual(JSON.parse(ready.text), { status: "ready", overloaded: true });
    assert.equal(await gauge(hasty, "assay_admission_overloaded"), 1);
    assert.ok((await gauge(hasty, 'assay_admission_refused_total{reason="waited_too_long"}')) > 0);
  });
  const told = hasty.logLines.filter((line) => line.includes("overload: more requests come"));
  assert.equal(told.length, 1, "one line for many refusals");
});

test("many refusals at once are held back for a moment, and every one of them is answered", async () => {
  const socket = openConnection(hasty.url).setEncoding("latin1");
  let received = "";
  socket.on("data", (text) => {
    received += text;
  });
  const answered = () => received.split("HTTP/1.1 503 ").length - 1;
  await whileFull(async () => {
    // In one piece, so that all of them come in the same moment. One caller may have 500 in line.
    socket.write(
      `GET /v1/sessions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${first.key.secret}\r\n\r\n`.repeat(600),
    );
    let mostHeld = 0;
    while (answered() < 600)
      mostHeld = Math.max(mostHeld, await gauge(hasty, "assay_admission_refusals_held"));
    assert.ok(mostHeld > 0);
    assert.equal(await gauge(hasty, "assay_admission_refusals_held"), 0);
  });
  socket.destroy();
});

test("a refused request leaves its connection open for the next one, its body unread", async () => {
  const socket = openConnection(hasty.url).setEncoding("latin1");
  let received = "";
  socket.on("data", (text) => {
    received += text;
  });
  const answers = async (count: number) => {
    while (received.split("HTTP/1.1 ").length - 1 < count) await once(socket, "data");
  };
  await whileFull(async () => {
    const body = "x".repeat(20_000);
    socket.write(`POST /v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await answers(1);
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await answers(2);
  });
  assert.match(received, /^HTTP\/1\.1 503 /);
  assert.match(received, /HTTP\/1\.1 200 /);
  assert.doesNotMatch(received, /connection: close/i);
  socket.destroy();
});

test("a new device socket is refused with the envelope when there is no place, and opens when there is one", async () => {
  const headers = {
    host: new URL(hasty.url).host,
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.alloc(16).toString("base64"),
    "sec-websocket-protocol": verifySubprotocol,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const handshake = `GET /v1/verify/session/${session} HTTP/1.1\r\n${lines.join("")}\r\n`;
  await whileFull(async () => {
    const answer = await sendRaw(hasty.url, handshake);
    expectRefusal(answer, 503, "SERVICE_UNAVAILABLE");
    assert.ok(answer.headers.get("retry-after"));
  });
  const socket = openConnection(hasty.url);
  socket.write(handshake);
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /^HTTP\/1\.1 101 /);
  socket.destroy();
});
