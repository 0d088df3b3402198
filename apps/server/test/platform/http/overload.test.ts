import assert from "node:assert/strict";
import { once } from "node:events";
import test, { after } from "node:test";
import { verifySubprotocol } from "@assay/contract/verify-protocol";
import pg from "pg";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { untilBlocked } from "../../support/database.ts";
import { expectRefusal, openConnection, sendRaw } from "../../support/raw-http.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { createSession } from "../../support/sessions.ts";
import { until as eventually } from "../../support/until.ts";

const metricsToken = "scraper";
const trusted = { METRICS_TOKEN: metricsToken, TRUST_PROXY: "127.0.0.1" };
const newKey = { name: "one of many", scopes: [] };

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  after(() => client.end());
  return client;
}

/** The current value in `/metrics`, which is never delayed itself. */
async function gauge(service: TestService, name: string): Promise<number> {
  const { text } = await service.api.as(metricsToken).get("/metrics");
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** Waits until the service says so of itself. */
async function until(
  service: TestService,
  expected: { placed?: number; waiting?: number; reading?: number },
): Promise<void> {
  for (const [name, value] of Object.entries(expected))
    await eventually(
      `${name} is ${value}`,
      async () => (await gauge(service, `assay_admission_${name}`)) === value,
    );
}

async function probeAll(service: TestService): Promise<void> {
  assert.equal((await service.api.get("/healthz")).status, 200);
  assert.equal((await service.api.get("/readyz")).status, 200);
  assert.equal((await service.api.as(metricsToken).get("/metrics")).status, 200);
}

/** It has made a request before, so that the owner of the key is known. */
async function knownPartner(service: TestService) {
  const partner = await createPartner(service.api);
  expectData(await partner.api.get("/v1/sessions"));
  return partner;
}

// Slots belong to a process, so this file uses one machine.
/** Of eight slots one caller gets one, and one address four. */
const patient = await startTestService({
  machines: 1,
  env: { ...trusted, REQUEST_MAX_IN_FLIGHT: "8" },
  role: "api",
});
const flood = await knownPartner(patient);
const quiet = await knownPartner(patient);
const admin = await connect(patient.databaseUrl);

test("a tenant whose requests are stuck and pile up keeps no slot from another", async () => {
  await admin.query("begin");
  // A request that adds a key to this organization waits for its row.
  await admin.query("select from organizations where id = $1 for update", [flood.organizationId]);
  const answers = Array.from({ length: 12 }, () => flood.owner.api.post("/v1/auth/api-keys", newKey));
  await until(patient, { placed: 1, waiting: 11 });
  for (let i = 0; i < 5; i++) expectData(await quiet.api.post("/v1/sessions", {}), 201);
  await probeAll(patient);
  await until(patient, { placed: 1, waiting: 11 });
  await admin.query("rollback");
  for (const answer of answers) expectData(await answer, 201);
  await until(patient, { placed: 0, waiting: 0 });
});

/** The result of `work`, which runs while the sessions are locked. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  await admin.query("begin");
  await admin.query("lock table sessions in access exclusive mode");
  try {
    return await work();
  } finally {
    await admin.query("rollback");
  }
}

const others: Awaited<ReturnType<typeof knownPartner>>[] = [];
for (let i = 0; i < 4; i++) others.push(await knownPartner(patient));

test("keys and members of an organization share its slots, and credentials that were made up those of their address", async () => {
  const ids = await whileLocked(async () => {
    const ids = [flood.api, flood.owner.api].map((api) => createSession(api));
    await until(patient, { placed: 1, waiting: 1 });
    return ids;
  });
  await Promise.all(ids);
  await admin.query("begin");
  await admin.query("lock table api_keys in access exclusive mode");
  const madeUp = Array.from({ length: 5 }, (_, i) => patient.api.as(`kk_made_up_${i}`).get("/v1/sessions"));
  await until(patient, { placed: 1, waiting: 4 });
  await admin.query("rollback");
  for (const answer of madeUp) expectError(await answer, 401, "UNAUTHORIZED");
  await until(patient, { placed: 0, waiting: 0 });
});

test("when all slots of an address are taken, a quiet tenant behind it is served before the queues of those that flood", async () => {
  const { flooding, beside } = await whileLocked(async () => {
    const flooding = others.flatMap(({ api }) => Array.from({ length: 10 }, () => createSession(api)));
    await until(patient, { placed: 4, waiting: 36 });
    const beside = [quiet.owner.api, quiet.api].map((api) => createSession(api));
    await until(patient, { placed: 4, waiting: 38 });
    await probeAll(patient);
    return { flooding, beside };
  });
  const ids = await Promise.all([...flooding, ...beside]);
  const last = new Set<string>(ids.slice(flooding.length));
  // In the order in which the database handled them: a busy client may see another order.
  const served = await admin.query<{ id: string }>(
    "select id from sessions where id = any($1) order by xmin::text::bigint",
    [ids],
  );
  const order = served.rows.map(({ id }) => (last.has(id) ? "quiet" : "flood"));
  assert.equal(order.length, 42);
  assert.ok(order.lastIndexOf("quiet") < 20, order.join(", "));
  await until(patient, { placed: 0, waiting: 0 });
});

test("many organizations behind one address leave half of the slots to other addresses", async () => {
  const elsewhere = { "x-forwarded-for": "192.0.2.9" };
  await admin.query("begin");
  const ids = others.map(({ organizationId }) => organizationId);
  await admin.query("select from organizations where id = any($1) for update", [ids]);
  const stuck = others.map(({ owner }) => owner.api.post("/v1/auth/api-keys", newKey));
  await until(patient, { placed: 4, waiting: 0 });
  const behind = quiet.api.post("/v1/sessions", {});
  await until(patient, { placed: 4, waiting: 1 });
  expectData(await quiet.api.post("/v1/sessions", {}, elsewhere), 201);
  await admin.query("rollback");
  for (const answer of [...stuck, behind]) expectData(await answer, 201);
});

test("a client that gives up while it waits leaves the queue, and one that is worked for keeps its slot until the work ends", async () => {
  await whileLocked(async () => {
    const giveUp = new AbortController();
    const sent = Array.from({ length: 10 }, () =>
      fetch(`${patient.url}/v1/sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${flood.key.secret}` },
        signal: giveUp.signal,
      }),
    );
    await until(patient, { placed: 1, waiting: 9 });
    await untilBlocked(patient.core.db, 1);
    giveUp.abort();
    assert.ok((await Promise.allSettled(sent)).every(({ status }) => status === "rejected"));
    await until(patient, { waiting: 0 });
    assert.equal(await gauge(patient, "assay_admission_placed"), 1, "the database still works for it");
  });
  await until(patient, { placed: 0 });
  expectData(await flood.api.post("/v1/sessions", {}), 201);
});

test("no slot is lost by clients that give up at any moment of a request", async () => {
  const head = `host: x\r\nauthorization: Bearer ${flood.key.secret}\r\ncontent-type: application/json\r\n`;
  const requests = [
    `GET /v1/sessions HTTP/1.1\r\n${head}\r\n`.repeat(3),
    `POST /v1/sessions HTTP/1.1\r\n${head}content-length: 2\r\n\r\n{}`,
    `POST /v1/sessions HTTP/1.1\r\n${head}content-length: 99\r\n\r\n{`,
    `POST /v1/sessions HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
    "GET /openapi HTTP/1.1\r\nhost: x\r\n\r\n".repeat(5),
    "GET /v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n",
    "GET /%zz HTTP/1.1\r\nhost: x\r\n\r\n",
  ];
  const abandon = async (number: number) => {
    const socket = openConnection(patient.url).on("error", () => {});
    socket.write(requests[number % requests.length] ?? "");
    // From before the request is read to after its answer.
    for (let i = 0; i < number % 13; i++) await new Promise(setImmediate);
    if (number % 3 === 0) socket.resetAndDestroy();
    else socket.destroy();
  };
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 70 }, (_, i) => abandon(round * 70 + i)));
    expectData(await quiet.api.get("/v1/sessions"));
  }
  await until(patient, { placed: 0, waiting: 0, reading: 0 });
});

test("pipelined requests are answered in order, one slot at a time, and a connection with more than a hundred is closed", async () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const paths = ["/v1/nothing", "/openapi", "/healthz", "/v1/verify/session/none/status"];
  const last = get("/v1/sessions").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
  const { text } = await sendRaw(patient.url, paths.map(get).join("") + last);
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  assert.deepEqual(statuses, ["404", "200", "200", "400", "401"]);
  const { text: cut } = await sendRaw(patient.url, get("/v1/nothing").repeat(150));
  assert.ok(cut.split("HTTP/1.1 404").length <= 150);
  await until(patient, { placed: 0, waiting: 0 });
});

test("requests that end in an error give their slots back", async () => {
  for (let i = 0; i < 8; i++) {
    expectError(await patient.api.get("/v1/nothing"), 404, "NOT_FOUND");
    expectError(await patient.api.as("kk_wrong").get("/v1/sessions"), 401, "UNAUTHORIZED");
    expectError(await quiet.api.post("/v1/sessions", { odd: true }), 400, "BAD_REQUEST");
    expectError(await quiet.api.call("POST", "/v1/sessions", { raw: "{" }), 400, "BAD_REQUEST");
  }
  await until(patient, { placed: 0, waiting: 0 });
});

test("a stream and a socket that stay open hold no slot", async () => {
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

/** One slot, and 32 requests may wait for it. */
const narrow = await startTestService({
  machines: 1,
  env: { ...trusted, REQUEST_MAX_IN_FLIGHT: "1" },
  role: "api",
});
const first = await knownPartner(narrow);
const second = await knownPartner(narrow);
const session = await createSession(first.api);
const narrowAdmin = await connect(narrow.databaseUrl);

/** Runs `work` while the only slot is taken by a request that waits for the database. */
async function whileFull(work: () => Promise<void>): Promise<void> {
  await narrowAdmin.query("begin");
  await narrowAdmin.query("lock table sessions in access exclusive mode");
  const held = first.api.get(`/v1/sessions/${session}`);
  await until(narrow, { placed: 1 });
  try {
    await work();
  } finally {
    await narrowAdmin.query("rollback");
    await held;
  }
  await until(narrow, { placed: 0, waiting: 0 });
}

/** Sends a request and then 32 of the same caller, so that it is the oldest of their queue. */
async function pushOut<T>(send: () => Promise<T>, another: () => Promise<unknown>): Promise<T> {
  const before = await gauge(narrow, "assay_admission_waiting");
  const answer = send();
  await until(narrow, { waiting: before + 1 });
  for (let i = 0; i < 32 - before; i++) void another();
  return await answer;
}

const fromAnyAddress = () => narrow.api.get(`/v1/verify/session/${session}/status`);

test("what finds the queue full is refused with 503 in the envelope, with Retry-After and a request id", async () => {
  await whileFull(async () => {
    const answer = await pushOut(
      () =>
        second.api.call("POST", "/v1/sessions", {
          body: { client_reference_id: "x".repeat(5000) },
          headers: { "x-request-id": "my-own-request" },
        }),
      () => second.api.get("/v1/sessions"),
    );
    expectError(answer, 503, "SERVICE_UNAVAILABLE");
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-3]$/);
    assert.equal(answer.headers.get("x-request-id"), "my-own-request");
    for (const name of ["x-content-type-options", "content-security-policy", "cache-control"])
      assert.ok(answer.headers.get(name), name);
  });
  await whileFull(async () => {
    const list = await pushOut(
      () => first.api.get("/v1/sessions", { limit: 7 }),
      () => first.api.get("/v1/sessions"),
    );
    expectError(list, 503, "SERVICE_UNAVAILABLE");
    assert.deepEqual(list.body.pagination, { limit: 7, has_more: false, next_cursor: null });
    assert.match(list.headers.get("x-request-id") ?? "", /^req_/);
  });
  await whileFull(async () =>
    expectError(await pushOut(fromAnyAddress, fromAnyAddress), 503, "SERVICE_UNAVAILABLE"),
  );
  expectData(await first.api.get("/v1/sessions"));
});

test("probes answer while all slots are taken, and readiness says that it is overloaded without going away", async () => {
  await whileFull(async () => {
    expectError(await pushOut(fromAnyAddress, fromAnyAddress), 503, "SERVICE_UNAVAILABLE");
    await probeAll(narrow);
    const ready = await narrow.api.get("/readyz");
    assert.deepEqual(JSON.parse(ready.text), { status: "ready", overloaded: true });
    assert.equal(await gauge(narrow, "assay_admission_overloaded"), 1);
    assert.ok((await gauge(narrow, 'assay_admission_refused_total\\{reason="queue_full"\\}')) > 0);
  });
  assert.ok(narrow.logLines.some((line) => line.includes("overload: some requests are refused")));
});

test("a quiet caller waits on while the oldest of the longest line are refused", async () => {
  const sent: ReturnType<typeof first.api.post>[] = [];
  await whileFull(async () => {
    sent.push(first.api.post("/v1/sessions", {}));
    await until(narrow, { waiting: 1 });
    for (let i = 0; i < 36; i++) sent.push(second.api.get("/v1/sessions"));
    await Promise.race(sent);
    await until(narrow, { waiting: 32 });
  });
  const [quiet, ...loud] = (await Promise.all(sent)).map(({ status }) => status);
  assert.equal(loud.filter((status) => status === 503).length, 5);
  assert.equal(quiet, 201);
});

test("a body larger than most routes take does not wait for a slot", async () => {
  const upload = () =>
    first.owner.api.call("PUT", "/v1/auth/orgs/logo", {
      raw: "x".repeat(100_000),
      headers: { "content-type": "image/png" },
    });
  await whileFull(async () => expectError(await upload(), 503, "SERVICE_UNAVAILABLE"));
  assert.equal((await upload()).status, 400);
});

test("a refused request leaves its connection open for the next one", async () => {
  const socket = openConnection(narrow.url).setEncoding("latin1");
  let received = "";
  socket.on("data", (text) => {
    received += text;
  });
  const answers = async (count: number) => {
    while (received.split("HTTP/1.1 ").length - 1 < count) await once(socket, "data");
  };
  await whileFull(async () => {
    const body = "x".repeat(20_000);
    const request = `POST /v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    await pushOut(async () => {
      socket.write(request);
      await answers(1);
    }, fromAnyAddress);
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await answers(2);
  });
  assert.match(received, /^HTTP\/1\.1 503 /);
  assert.match(received, /HTTP\/1\.1 200 /);
  assert.doesNotMatch(received, /connection: close/i);
  socket.destroy();
});

test("a new device socket is refused with the envelope when there is no slot, and opens when there is one", async () => {
  const headers = {
    host: new URL(narrow.url).host,
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.alloc(16).toString("base64"),
    "sec-websocket-protocol": verifySubprotocol,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const handshake = `GET /v1/verify/session/${session} HTTP/1.1\r\n${lines.join("")}\r\n`;
  await whileFull(async () => {
    const answer = await pushOut(() => sendRaw(narrow.url, handshake), fromAnyAddress);
    expectRefusal(answer, 503, "SERVICE_UNAVAILABLE");
    assert.ok(answer.headers.get("retry-after"));
  });
  const socket = openConnection(narrow.url);
  socket.write(handshake);
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /^HTTP\/1\.1 101 /);
  socket.destroy();
});
